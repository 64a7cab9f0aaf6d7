"""Report versions, device and precision of this process."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import Any

import jax
import numpy

import gradhook
from gradhook.numerics.finite_difference.richardson import LEVELS, RATIO

# Only these: a report must not carry what else the environment holds.
_VARIABLES = ("XLA_FLAGS", "CUDA_VISIBLE_DEVICES", "JAX_PLATFORMS", "JAX_ENABLE_X64", "JAX_DEFAULT_MATMUL_PRECISION")


def environment() -> dict[str, Any]:
    """Versions, device and settings of JAX in this process.

    Raises:
        RuntimeError: JAX finds no device of the requested platform.
    """
    devices = jax.devices()
    with jax.enable_x64(True):
        wide = jax.numpy.zeros((), "float64").dtype == "float64"
    return {
        "gradhook": gradhook.__version__,
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": version("jaxlib"),
        "numpy": numpy.__version__,
        "platform": devices[0].platform,
        "device": devices[0].device_kind,
        "devices": len(devices),
        "x64": bool(wide),
        "steps": f"ladder of {LEVELS} steps, ratio {RATIO:g}, Romberg",
        "matmul_precision": str(getattr(jax.config, "jax_default_matmul_precision", None) or "default"),
        "system": f"{platform.system()} {platform.machine()}",
        "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
    }
