"""Measure a target's wall time and count the programs that XLA compiles for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jax.monitoring

from gradhook.model.results import CheckSettings, OutcomeUpdate, Target, TargetReport

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
