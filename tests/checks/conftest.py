from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import pytest

from gradhook.checks import Check
from gradhook.comparison.judge import Tolerance
from gradhook.model.results import Outcome
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.function_probe import CheckCase, CheckOptions, FunctionProbe

Ask = Callable[..., Outcome]
_DECLARED = frozenset({"forward", "derivative_of", "rule"})
_SITUATION = ("value", "derivative", "tangent", "kink", "error", "match", "kwargs")


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.fixture
def ask() -> Ask:
    """The answer of one check about a function at some arguments; options as in an annotation."""

    def run(check: Check, function: Any, *args: Any, **said: Any) -> Outcome:
        check_case = CheckCase("batch", args, **{name: said.pop(name) for name in _SITUATION if name in said})
        tolerances = {name: said.pop(name) for name in ("atol", "rtol") if name in said}
        said = {"surrogate": not _DECLARED.isdisjoint(said)} | said
        check_options = CheckOptions(tolerance=Tolerance(**tolerances), **said)
        return check.run(FunctionProbe(function, check_case, check_options, "seed", Clock()))

    return run
