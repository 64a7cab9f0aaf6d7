"""A loop or a cast explains what comes out of it, and nothing beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from gradhook.checks import grd101_forward as check
from gradhook.execution.worker.examine import examine
from gradhook.model.results import CheckSettings, ClaimKind, Target, Verdict


def _root(a: Any) -> Any:
    """The square root, until it is as good as 1e-12."""
    step = lambda s: (0.5 * (s[0] + a / s[0]), jnp.abs(s[0] * s[0] - a))  # noqa: E731
    return jax.lax.while_loop(lambda s: s[1] > 1e-12, step, (a, a))[0]


def _rough(a: Any) -> Any:
    """The square root, until its square is as good as 0.05."""
    step = lambda s: (0.5 * (s[0] + a / s[0]), jnp.abs(s[0] * s[0] - a))  # noqa: E731
    return jax.lax.while_loop(lambda s: s[1] > 0.05, step, (a, a))[0]


def _exact_root(t: Any, out: Any, a: Any) -> Any:
    return t * 0.5 / jnp.sqrt(a)


def _counted(x: Any) -> Any:
    """Three sines, counted in floating numbers."""
    return jax.lax.while_loop(lambda s: s[1] < 3.5, lambda s: (jnp.sin(s[0]), s[1] + 1.0), (x, 0.5))[0]


def _ruled(function: Callable[..., Any], *rules: Any) -> Any:
    made = jax.custom_jvp(function)
    made.defjvps(*rules)
    return made


def _loses_b(size: float, beside: Callable[[Any], Any]) -> Any:
    """A right rule for the loop; the derivative by ``b``, which is not part of it, is lost."""
    return _ruled(
        lambda a, b: size * _root(a) + beside(b), lambda t, out, a, b: t * size * 0.5 / jnp.sqrt(a), lambda t, *_: 0 * t
    )


@pytest.mark.parametrize("function", [_loses_b(1.0, lambda b: 1e-3 * b), _loses_b(1000.0, lambda b: b**2)])
def test_a_loop_excuses_no_argument_outside_of_it(ask: Any, function: Any) -> None:
    outcome = ask(check, function, 2.0, 1.0)
    assert [(f.verdict, f.leaf) for f in outcome.findings] == [(Verdict.FAIL, "b")]


def test_a_loop_excuses_what_its_stop_leaves_open(ask: Any) -> None:
    (finding,) = ask(check, _ruled(_rough, _exact_root), 0.7).findings
    assert (finding.verdict, finding.code) == (Verdict.UNDECIDED, "GRD407")


@pytest.mark.parametrize("loop", [_root, _rough])
def test_a_loop_excuses_no_more_than_that(ask: Any, loop: Any) -> None:
    factor = 1.003 if loop is _root else 1.3
    (finding,) = ask(check, _ruled(loop, lambda t, out, a: factor * _exact_root(t, out, a)), 0.7).findings
    assert finding.verdict is Verdict.FAIL


@pytest.mark.parametrize("loop", [_root, _counted])
def test_a_loop_excuses_no_other_output(ask: Any, loop: Any) -> None:
    @jax.custom_jvp
    def function(x: Any) -> Any:
        return {"sine": jnp.sin(x), "loop": loop(x)}

    @function.defjvp
    def _rule(primals: Any, tangents: Any) -> Any:
        _, out = jax.jvp(lambda x: {"sine": 1.004 * jnp.sin(x), "loop": loop(x)}, primals, tangents)
        return function(*primals), out

    (finding,) = ask(check, function, 0.7).findings
    assert (finding.verdict, finding.output) == (Verdict.FAIL, "out['sine']")


def test_a_loop_that_counts_is_no_iteration(ask: Any) -> None:
    function = _ruled(_counted, lambda t, out, x: 1.004 * jax.jvp(_counted, (x,), (t,))[1])
    (finding,) = ask(check, function, 0.7).findings
    assert finding.verdict is Verdict.FAIL


def _fine(x: Any) -> Any:
    """The value is all rounding at steps that are small enough."""
    return jnp.sin(1e12 * x)


def _cancelling(x: Any) -> Any:
    return 1e8 + jnp.sin(x)


@pytest.mark.parametrize("function", [_fine, _cancelling])
def test_a_cast_that_is_only_compared_is_no_cause(ask: Any, function: Any) -> None:
    plain = ask(check, lambda x: function(x) * jnp.where(x > 0, 1.0, 2.0), 0.7)
    masked = ask(check, lambda x: function(x) * jnp.where(x.astype(jnp.float32) > 0, 1.0, 2.0), 0.7)
    assert [f.code for f in masked.findings] == [f.code for f in plain.findings]
    assert "GRD406" not in {f.code for f in masked.findings}


def test_a_cast_in_one_output_is_no_cause_in_another(ask: Any) -> None:
    def function(x: Any) -> Any:
        return {"narrow": jnp.exp(x.astype(jnp.float32)).astype(jnp.float64), "wide": _fine(x)}

    found = {f.output: f.code for f in ask(check, function, 0.7).findings}
    assert found["out['narrow']"] == "GRD406" and found["out['wide']"] == "GRD405"


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.exp(x.astype(jnp.float32)).astype(jnp.float64),
        lambda x: _fine(x) * jnp.where(x.astype(jnp.float32) > 0, 1.0, 2.0),
        _ruled(_rough, _exact_root),
        _ruled(lambda x: _rough(x) + 1e-9 * x.astype(jnp.float32).astype(jnp.float64), _exact_root),
    ],
)
def test_report_and_account_name_the_same_cause(function: Any) -> None:
    target = Target("paths", "f", "paths.py", 1, 1, ClaimKind.EXACT, ".")
    settings = CheckSettings(trace=True, curves=True)
    report = examine(function, target, {"args": (0.7,), "modes": ("fwd",)}, settings, lambda _: None)
    (account,) = report.traces
    (finding,) = [f for outcome in report.outcomes for f in outcome.findings if f.code.startswith("GRD4")]
    assert account.comparisons[0].decision.startswith(f"undecided ({finding.code}): ")
