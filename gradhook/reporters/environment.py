"""Under which versions, device and settings does a report hold?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gradhook.model import Report

_PACKAGES = {"gradhook": "gradhook", "python": "Python", "jax": "jax", "jaxlib": "jaxlib", "numpy": "numpy"}


def environment_parts(report: Report) -> list[str]:
    """``gradhook 0.1.0``, ``Python 3.11.7``, ``jax 0.10.2``, …, ``cpu``, ``float64``, ``rtol 2e-10``, ``seed 0``."""
    return [*_surroundings(report.environment), *_chosen(report.settings, report.environment)]


def _surroundings(environment: Mapping[str, Any]) -> Iterator[str]:
    for key, name in _PACKAGES.items():
        if environment.get(key):
            yield f"{name} {environment[key]}"
    device = environment.get("device") or environment.get("platform")
    if device:
        yield str(device)
    if "x64" in environment:
        yield "float64" if environment["x64"] else "float32 only"


def _chosen(settings: Mapping[str, Any], environment: Mapping[str, Any]) -> Iterator[str]:
    for key in ("rtol", "atol"):
        if key in settings:
            yield f"{key} {_value(settings[key]):g}"
    if environment.get("steps"):
        yield f"steps: {environment['steps']}"
    if "seed" in settings:
        yield f"seed {_value(settings['seed'])}"


def _value(setting: Any) -> Any:
    """Settings come as ``{"value": …, "origin": …}``."""
    return setting["value"] if isinstance(setting, Mapping) else setting
