"""GRD205: the derivative is the same inside every transformation."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from gradhook import normal, uniform
from gradhook.checks import grd205_composition as check
from gradhook.model.results import Verdict

X = uniform(4, low=-3, high=3)


def rounded(rule: Any) -> Any:
    """round with a rule that gives the tangent from the point and the tangent."""
    f = jax.custom_jvp(lambda x: jnp.round(x))
    f.defjvp(lambda p, t: (f(p[0]), rule(p[0], t[0])))
    return f


def test_a_plain_rule_survives_everything(ask: Any) -> None:
    outcome = ask(check, rounded(lambda x, t: t), X, surrogate=True)
    assert outcome.verdict is Verdict.PASS
    assert outcome.note == "asked in 18 compositions"


def test_a_rule_that_looks_at_the_batch(ask: Any) -> None:
    kept = rounded(lambda x, t: t)
    f = jax.custom_batching.custom_vmap(lambda x: kept(x))
    f.def_vmap(lambda size, batched, x: (kept(x) + 0 * x.sum() * x, True))
    g = jax.custom_batching.custom_vmap(lambda x: kept(x))
    g.def_vmap(lambda size, batched, x: (kept(x) * 2, True))
    assert ask(check, lambda x: f(x), X, surrogate=True, modes=("fwd",)).verdict is Verdict.PASS
    outcome = ask(check, lambda x: g(x), X, surrogate=True, modes=("fwd",))
    assert {"vmap", "vmap of jvp", "jvp of vmap"} <= set(outcome.note.split(", "))


def test_an_argument_that_is_differentiated_alone(ask: Any) -> None:
    def product(forgets: bool) -> Any:
        f = jax.custom_jvp(lambda x, y: x * y)

        def rule(p: Any, t: Any) -> Any:
            zero = [isinstance(s, jax.custom_derivatives.SymbolicZero) for s in t]
            terms = [q * s for q, s, still in zip(p[::-1], t, zero, strict=True) if not still]
            return f(*p), sum(terms) * (2.0 if forgets and any(zero) else 1.0)

        f.defjvp(rule, symbolic_zeros=True)
        return f

    assert ask(check, product(False), normal(3), normal(3)).verdict is Verdict.PASS
    message = ask(check, product(True), normal(3), normal(3)).findings[0].message
    assert "with respect to x only" in message


def test_a_surrogate_that_cannot_be_traced_fails_and_an_exact_rule_is_skipped(ask: Any) -> None:
    f = jax.custom_jvp(lambda x: jnp.round(x) if float(x) > 0 else jnp.floor(x + 0.5))
    f.defjvp(lambda p, t: (f(p[0]), t[0]))
    assert ask(check, f, 1.3, surrogate=True, forward=jnp.round).verdict is Verdict.FAIL
    assert ask(check, f, 1.3).verdict is Verdict.SKIP
