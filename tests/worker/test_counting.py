"""Are wall time and compilations of a target counted?"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from gradhook.execution.worker.environment import counted
from gradhook.model.results import CheckSettings, ClaimKind, Target, TargetReport, Verdict


def test_each_target_has_its_own_count() -> None:
    target = Target("m", "f", "m.py", 1, 1, ClaimKind.EXACT, "/r")
    x = jnp.arange(7.0)

    def examine(subject: Any, *rest: Any) -> TargetReport:
        for _ in range(subject):
            jax.jit(lambda x: jnp.sin(x) * 2)(x).block_until_ready()  # a new function each time: no cache
        return TargetReport(target, Verdict.PASS)

    measured = counted(examine)
    for count in (3, 0, 2):
        seconds = measured(count, target, {}, CheckSettings(), print).seconds
        assert seconds.compilations == count
        assert seconds.wall > 0 or count == 0
