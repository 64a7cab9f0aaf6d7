"""Report this process's versions, device and precision, and a target's time and compiled programs."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import jax
import jax.monitoring
import numpy

import gradhook
from gradhook.model.results import CheckSettings, OutcomeUpdate, Target, TargetReport
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


COMPILED = "/jax/core/compile/backend_compile_duration"
"""JAX's event for each program that XLA compiles; it may come from any thread."""
_durations: list[float] = []


def counted(examine: Callable[..., TargetReport]) -> Callable[..., TargetReport]:
    """``examine``, whose reports then also have wall time and compilations."""
    jax.monitoring.register_event_duration_secs_listener(_record_duration)

    def measured(
        subject: Any,
        target: Target,
        options: Mapping[str, Any],
        settings: CheckSettings,
        announce: Callable[[str | OutcomeUpdate], None],
    ) -> TargetReport:
        before, started = len(_durations), time.perf_counter()
        report = examine(subject, target, options, settings, announce)
        wall = time.perf_counter() - started
        return replace(report, seconds=replace(report.seconds, wall=wall, compilations=len(_durations) - before))

    return measured


def _record_duration(event: str, duration_secs: float, **kwargs: str | int) -> None:
    del kwargs
    if event == COMPILED:
        _durations.append(duration_secs)
