"""Hash what all results of a run depend on besides files: versions, machine, settings, variables."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradhook import __version__
from gradhook.execution.cache.fingerprints import build, content, digest

_BEGINNINGS = (
    "JAX", "XLA", "TF_", "CUDA", "NVIDIA", "NCCL", "ROC", "HIP", "TPU", "LIBTPU", "OMP_", "MKL_", "OPENBLAS_", "NUMBA_",
    "PYTHON", "LD_", "DYLD_", "EQX_", "FLAX_", "CHEX_", "BEARTYPE",
)  # fmt: skip
_HARMLESS = ("JAX_COMPILATION_CACHE", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONUTF8")
_KNOWN_DEVICES = frozenset({"cpu", "gpu", "cuda"})
_NVIDIA = "/proc/driver/nvidia"


def cache_key(python: Path, environ: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    """The digest of these parts; ``environ`` is the environment of the worker."""
    parts = {
        "gradhook": [__version__, _source(Path(__file__).parents[2])],
        "python": [str(python), os.path.realpath(python), build(os.path.realpath(python)), *_environment(python)],
        "machine": [sys.platform, *_machine(), *(_graphics() if on_gpu(environ) else ())],
        "variables": sorted(pair for pair in environ.items() if _matters(pair[0])),
        "settings": settings,
    }
    return digest(json.dumps(parts, sort_keys=True))


def is_known(environ: Mapping[str, str]) -> bool:
    """Whether the devices that JAX will use can be identified, so that a pass holds for them only."""
    platforms = environ.get("JAX_PLATFORMS", "").split(",")
    known = _KNOWN_DEVICES.issuperset(platforms)
    return known and (not on_gpu(environ) or bool(_graphics()))


def on_gpu(environ: Mapping[str, str]) -> bool:
    """Whether JAX may compute on a GPU."""
    return environ.get("JAX_PLATFORMS") != "cpu"


def _source(package: Path) -> str:
    """A digest of gradhook's own code, which changes between versions while it is developed."""
    files = sorted(str(path) for path in package.rglob("*.py"))
    return digest(*(part for file in files for part in (os.path.relpath(file, package), content(file))))


def _environment(python: Path) -> list[str]:
    """The contents of ``pyvenv.cfg`` beside or above a Python, which locates the rest."""
    return [content(str(folder / "pyvenv.cfg")) for folder in (python.parent, python.parent.parent)]


def _machine() -> list[str]:
    """The kind of processor: programs are compiled for it."""
    kind = [os.uname().machine if sys.platform != "win32" else os.environ.get("PROCESSOR_IDENTIFIER", "")]
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            first = file.read(16384).split("\n\n")[0]
    except OSError:
        return kind
    return [*kind, *(line for line in first.splitlines() if line.startswith(("model name", "flags", "Features")))]


def _graphics() -> list[str]:
    """The driver and the kinds of graphics cards."""
    try:
        cards = sorted(Path(_NVIDIA, "gpus").iterdir())
        texts = [
            path.read_text("utf-8", "replace")
            for path in (Path(_NVIDIA, "version"), *(card / "information" for card in cards))
        ]
    except OSError:
        return []
    return [line for text in texts for line in text.splitlines() if line.startswith(("Model", "NVRM", "GPU UUID"))]


def _matters(name: str) -> bool:
    return name.startswith(_BEGINNINGS) and not name.startswith(_HARMLESS)
