"""GRD206: differentiated twice, a surrogate is what was declared."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from gradhook import uniform
from gradhook.checks import grd206_order2 as check
from gradhook.model.results import Verdict

X = uniform(4, low=-3, high=3)


def rounded(rule: Any) -> Any:
    """round with a rule that gives the tangent from the point and the tangent."""
    f = jax.custom_jvp(lambda x: jnp.round(x))
    f.defjvp(lambda p, t: (f(p[0]), rule(p[0], t[0])))
    return f


def bumped(x: Any, t: Any) -> Any:
    return t / (1 + x * x)


def frozen(x: Any, t: Any) -> Any:
    return jax.lax.stop_gradient(1 / (1 + x * x)) * t


@pytest.mark.parametrize(("rule", "order2"), [(bumped, "of the surrogate"), (frozen, "zero"), (bumped, None)])
def test_as_declared(ask: Any, rule: Any, order2: str | None) -> None:
    outcome = ask(check, rounded(rule), X, surrogate=True, derivative_of=jnp.arctan, order2=order2)
    assert outcome.verdict is Verdict.PASS


@pytest.mark.parametrize(("rule", "order2"), [(frozen, "of the surrogate"), (bumped, "zero"), (bumped, "error")])
def test_otherwise(ask: Any, rule: Any, order2: str) -> None:
    outcome = ask(check, rounded(rule), X, surrogate=True, derivative_of=jnp.arctan, order2=order2)
    assert outcome.verdict is Verdict.FAIL
    assert order2 in outcome.findings[0].message


def test_without_a_declaration_the_note_says_what_it_is(ask: Any) -> None:
    assert "is not zero" in ask(check, rounded(bumped), X, surrogate=True).note
    assert "is zero" in ask(check, rounded(lambda x, t: t), X, surrogate=True).note


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_a_rule_that_returns_the_plain_value_is_lost(ask: Any, mode: str) -> None:
    f = jax.custom_jvp(lambda x: jnp.round(x))
    f.defjvp(lambda p, t: (jnp.round(p[0]), t[0]))
    outcome = ask(check, f, X, surrogate=True, modes=(mode,))
    assert (outcome.verdict, [found.verdict for found in outcome.findings]) == (Verdict.PASS, [Verdict.ADVICE])
    assert "lost at second order" in outcome.findings[0].message
    claimed = ask(check, f, X, surrogate=True, modes=(mode,), order2="zero")
    assert claimed.verdict is Verdict.FAIL and "lost at second order" in claimed.findings[0].message


def spiking() -> Any:
    """A step with the slope of a bump, and a rule that keeps itself."""
    f = jax.custom_jvp(lambda x: (x >= 0).astype(x.dtype))
    f.defjvp(lambda p, t: (f(p[0]), bumped(p[0], t[0])))
    return f


def _keeps(scanned: Any, looped: Any) -> bool:
    """Whether the second order of a scan is that of the loop: up to JAX 0.10 it is not."""
    with jax.enable_x64(True):
        one, other = (jax.hessian(lambda x, f=f: jnp.sum(f(x) ** 2))(jnp.array([0.3, -0.7])) for f in (scanned, looped))
    return bool(jnp.allclose(one, other))


def test_a_network_is_not_blamed_for_a_rule_that_scan_loses(ask: Any) -> None:
    spike = spiking()

    def unrolled(x: Any) -> Any:
        return jax.lax.scan(lambda carry, w: (carry, spike(w * x)), 0.0, jnp.array([1.0, 0.5]))[1].sum(0)

    said = {"surrogate": True, "derivative_of": lambda x: jnp.arctan(x) + jnp.arctan(0.5 * x)}
    assert ask(check, unrolled, X, **said).verdict is Verdict.PASS
    lost = [f for f in ask(check, unrolled, X, order2="of the surrogate", **said).findings if "lost" in f.message]
    assert bool(lost) is not _keeps(unrolled, lambda x: spike(x) + spike(0.5 * x))
