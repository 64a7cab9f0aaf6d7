"""Which custom rules does a derivative rest on?

A rule in the jaxpr may still have no part in the derivative: its value is rounded once more, or stopped. So each rule
in turn is made to give zero; where that changes nothing, it was not in use. After ``grad`` no rule is visible at all,
therefore the jaxpr of the value is rewritten.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from gradhook.comparison.probe import Fault, Suspect
from gradhook.comparison.surrogate_probe import InUse
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivative_errors import translate
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.custom_rules import Replay

MOST = 6
"""So many rules are tried; each costs a program."""


def in_use(replay: Replay, mode: Mode) -> InUse:
    """The outermost rules of a function that is none itself; those that JAX brings are left out."""
    suspects = replay.suspects
    rules = [s for s in suspects if s.kind != "stop_gradient" and not s.of_jax and s.outermost][:MOST]
    if not rules or any(rule.itself for rule in rules):
        return InUse(bool(suspects))
    whole = replay.claim(frozenset(), (), mode)
    if isinstance(whole, Fault):
        return InUse(True)
    muted = [(rule, _muted(replay, rule, mode)) for rule in rules]
    known = [(rule, np.array_equal(whole, got, equal_nan=True)) for rule, got in muted if not isinstance(got, Fault)]
    used, idle = (tuple(rule for rule, same in known if same is is_idle) for is_idle in (False, True))
    return InUse(bool(suspects), used, idle)


def _muted(replay: Replay, rule: Suspect, mode: Mode) -> Any:
    """The claim of a mode with a rule that gives zero."""
    try:
        return replay.laboratory.claim(replay.rewritten(frozenset([replay.suspects.index(rule)]), _stopped), (), mode)
    except Exception as error:  # without the rule nothing need be differentiable
        return translate(error)


def _stopped(code: Any) -> Any:
    """A closed jaxpr with the same values and no derivative."""
    run = traverse.function_of(code)
    shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in traverse.opened(code).invars]  # type: ignore[no-untyped-call]
    return jax.make_jaxpr(lambda *values: jax.lax.stop_gradient(run(*values)))(*shapes)
