"""GRD107: what a special input hides shows beside it, and what is right there stays right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.sparse.linalg import cg

from gradhook import normal, ones, spd
from gradhook.checks import grd107_beside as check
from gradhook.model.results import Verdict
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.function_probe import FunctionProbe

EYE = jnp.eye(3)
ORDINARY = jnp.array([0.31, -0.72, 1.13])


def _ruled(function: Callable[..., Any], rule: Callable[..., Any]) -> Any:
    """A function with a forward rule, of which reverse mode is the transpose."""
    made = jax.custom_jvp(function)
    made.defjvp(lambda primals, tangents: (function(*primals), rule(primals, tangents)))
    return made


def _power(x: Any, exponent: int) -> Any:
    return jnp.sum(x**exponent)


_QUADRATIC = _ruled(  # wrong on purpose: without the transpose
    lambda a, x: x @ a @ x, lambda p, t: 2 * p[1] @ p[0] @ t[1] + p[1] @ t[0] @ p[1]
)
_RIGHT_QUADRATIC = _ruled(lambda a, x: x @ a @ x, lambda p, t: p[1] @ (p[0] + p[0].T) @ t[1] + p[1] @ t[0] @ p[1])
_SQUARE = _ruled(lambda x: _power(x, 2), lambda p, t: jnp.sum(2 * t[0]))  # wrong on purpose: x is 1
_CUBE = _ruled(lambda x: _power(x, 3), lambda p, t: jnp.sum(3 * p[0] * t[0]))  # wrong on purpose: x² is x
_EXCHANGED = _ruled(lambda x, y: jnp.sum(x**2 * y), lambda p, t: jnp.sum(2 * p[1] ** 2 * t[0] + p[0] * p[1] * t[1]))
_ROLLED = _ruled(lambda x: jnp.sum(x**3), lambda p, t: jnp.sum(3 * jnp.roll(p[0], 1) ** 2 * t[0]))


@pytest.mark.parametrize(
    "function, args",
    [
        (_QUADRATIC, (EYE, jnp.ones(3))),
        (_QUADRATIC, (EYE, normal(3))),
        (_QUADRATIC, (jnp.array([[2.0, 0.31], [0.31, 1.17]]), jnp.array([0.7, 0.4]))),
        (_CUBE, (1.0,)),
        (_SQUARE, (1.0,)),
        (_SQUARE, (ones(3),)),
        (_EXCHANGED, (jnp.array([0.37, 1.21]), jnp.array([0.37, 1.21]))),
        (_ROLLED, (0.37 * jnp.ones(3),)),
        (_ROLLED, (1e8 * jnp.ones(3),)),
        (_SQUARE, (jnp.ones(70),)),
    ],
)
def test_what_a_special_input_hides(ask: Any, function: Any, args: tuple[Any, ...]) -> None:
    outcome = ask(check, function, *args)
    assert outcome.verdict is Verdict.FAIL
    assert {f.mode for f in outcome.findings} == {"fwd", "rev"}
    for finding in outcome.findings:
        assert (finding.code, finding.case, finding.order) == ("GRD107", "batch", 1)
        assert finding.message.startswith("right at the given point, wrong beside it (")
        assert finding.leaf and finding.claimed != finding.measured and "normal(" in finding.help


def test_the_message_names_what_hid_it(ask: Any) -> None:
    (finding, _) = ask(check, _QUADRATIC, EYE, jnp.ones(3)).findings
    assert "`a` is symmetric" in finding.message and "d out / d x[" in finding.message
    assert "spd(3)" in finding.help


_ENTROPY = _ruled(  # right where the labels sum to 1, as given ones do
    lambda x, y: -jnp.sum(y * jax.nn.log_softmax(x)),
    lambda p, t: (jax.nn.softmax(p[0]) - p[1]) @ t[0] - jax.nn.log_softmax(p[0]) @ t[1],
)


@pytest.mark.parametrize(
    "function, args",
    [
        (_RIGHT_QUADRATIC, (EYE, jnp.ones(3))),
        (lambda x: x**2, (1.0,)),
        (lambda x: x**3, (0.0,)),
        (jax.nn.relu, (jnp.ones(3),)),
        (jnp.abs, (-jnp.ones(3),)),
        (jnp.linalg.norm, (jnp.ones(3),)),
        (jnp.log, (1e-3 * jnp.ones(2),)),
        (jnp.arcsin, (jnp.array([0.5, 0.5]),)),
        (jnp.sqrt, (1e-12 * jnp.ones(2),)),
        (jnp.prod, (jnp.array([1.0, -1.0, 2.0]),)),
        (lambda x, at: jnp.interp(x, at, at**2), (1.3, jnp.arange(5.0))),
        (lambda x: jnp.clip(x, 0.0, 2.0), (jnp.ones(2),)),
        (jnp.linalg.inv, (EYE,)),
        (lambda x: jnp.sum(x**2), (1e8 * jnp.ones(3),)),
        (lambda x: jnp.sum(jnp.sin(x)), (jnp.ones(70),)),
        (lambda z: jnp.abs(z) ** 2, (jnp.array([1 + 1j, 1 - 1j]),)),
        (_ENTROPY, (ORDINARY, jnp.array([0.0, 1.0, 0.0]))),
        (_ENTROPY, (ORDINARY, np.full(3, 1 / 3))),
    ],
)
def test_a_right_function_at_a_special_point(ask: Any, function: Any, args: tuple[Any, ...]) -> None:
    outcome = ask(check, function, *args)
    assert (outcome.verdict, outcome.findings, outcome.note) == (Verdict.PASS, (), "")


def test_a_solve_that_is_told_of_a_symmetric_matrix_is_not_given_another(ask: Any) -> None:
    def solve(a: Any, b: Any) -> Any:
        return cg(lambda x: a @ x, b, tol=1e-14)[0]

    assert not ask(check, solve, jnp.array([[2.0, 0.5], [0.5, 1.5]]), jnp.array([1.3, 2.1])).findings


def test_a_regime_that_ends_beside_the_point_is_another_function(ask: Any) -> None:
    def clipped(x: Any) -> Any:
        return jnp.where(jnp.abs(x - 2) < 0.05, x**2, x**3)

    function = _ruled(clipped, lambda p, t: 2 * p[0] * t[0])  # right within 0.05 of the point
    assert ask(check, function, 2.0).verdict is Verdict.PASS


@pytest.mark.parametrize("args", [(ORDINARY,), (normal(3),), (jnp.array([0.3 + 1e-9, jnp.nan, 0.7]),)])
def test_nothing_is_special(ask: Any, args: tuple[Any, ...]) -> None:
    assert ask(check, _power, *args, 2, wrt=0).verdict is Verdict.SKIP


def test_a_drawn_matrix_keeps_its_structure(ask: Any) -> None:
    assert ask(check, _QUADRATIC, spd(3), normal(3)).verdict is Verdict.SKIP


def test_a_rotation_is_meant_to_be_one(ask: Any) -> None:
    turn = jnp.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    assert ask(check, lambda a: a @ a, turn).verdict is Verdict.SKIP


@pytest.mark.parametrize("said", [{"kink": 0.0}, {"value": 1.0}, {"derivative": 2.0}, {"step": 1e-4}])
def test_where_the_author_speaks_of_this_point(ask: Any, said: dict[str, Any]) -> None:
    assert ask(check, _SQUARE, 1.0, **said).verdict is Verdict.SKIP


def test_a_case_that_does_not_pass_is_answered_already(ask: Any) -> None:
    assert ask(check, _SQUARE, 2.0).verdict is Verdict.SKIP
    assert ask(check, jnp.abs, 0.0).verdict is Verdict.SKIP


def test_no_tracing_no_question(ask: Any) -> None:
    assert ask(check, lambda x: x**2 if x > 0 else x, 1.0).verdict is Verdict.SKIP


def test_a_pass_says_what_would_not_show_where_nothing_is_defined_beside(ask: Any) -> None:
    outcome = ask(check, lambda x: jnp.where(jnp.abs(x - 2).max() < 1e-4, x, jnp.nan), 2 * jnp.ones(2))
    assert outcome.verdict is Verdict.PASS and not outcome.findings
    assert "all numbers of `x` are equal: a permuted argument would not show" in outcome.note
    assert "no value beside it is finite" in outcome.note


@pytest.mark.parametrize("x", [jnp.ones(3), jnp.ones(70)])
def test_nothing_more_is_compiled(monkeypatch: pytest.MonkeyPatch, x: Any) -> None:
    probe = FunctionProbe(lambda x: jnp.sum(jnp.sin(x)), CheckCase("batch", (x,)), CheckOptions(), "seed", Clock())
    probe.comparison(), probe.rounding((), "fwd"), probe.rounding((), "rev")
    before = probe.clock.compile
    assert check.run(probe).verdict is Verdict.PASS and not isinstance(probe.beside(), str)
    assert probe.clock.compile == before
