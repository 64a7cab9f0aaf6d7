"""GRD301: every way to compute a derivative gives the same, to rounding."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import normal
from gradhook.checks import grd301_routes as check
from gradhook.model import Verdict


def _square(shift: float, factor: float) -> Any:
    """A square, with a batching rule that is off by a factor and a shift."""

    @jax.custom_batching.custom_vmap
    def f(x: Any) -> Any:
        return x * x

    @f.def_vmap
    def _(size: int, batched: Any, x: Any) -> Any:
        return x * x * factor + shift, True

    return lambda x: jnp.sum(f(x))


@jax.custom_jvp
def _product(x: Any, y: Any) -> Any:
    return x * y


def _drops_a_factor(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    if isinstance(dy, jax.custom_derivatives.SymbolicZero):
        return x * y, dx * y * 2  # wrong on purpose: only if x is differentiated alone
    if isinstance(dx, jax.custom_derivatives.SymbolicZero):
        return x * y, x * dy
    return x * y, dx * y + x * dy


_product.defjvp(_drops_a_factor, symbolic_zeros=True)


@jax.custom_jvp
def _right_product(x: Any, y: Any) -> Any:
    return x * y


_right_product.defjvps(lambda dx, _, x, y: dx * y, lambda dy, _, x, y: x * dy)


def test_a_right_rule(ask: Any) -> None:
    outcome = ask(check, lambda x, y: _right_product(x, y), normal(3), normal(3))
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())


def test_a_right_batching_rule(ask: Any) -> None:
    outcome = ask(check, _square(0.0, 1.0), normal(3))
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())


def test_another_slope_in_a_batch(ask: Any) -> None:
    found = [f for f in ask(check, _square(0.0, 1.001), normal(3)).findings if "under vmap gives" in f.message]
    assert found and all("custom_vmap" in f.help for f in found)


def test_another_value_in_a_batch(ask: Any) -> None:
    found = ask(check, _square(1e-3, 1.0), normal(3)).findings
    assert any(f.message.startswith("the value under vmap gives") for f in found)


def test_a_branch_for_one_argument_alone(ask: Any) -> None:
    findings = ask(check, lambda x, y: _product(x, y), 1.5, 2.0).findings
    assert findings and all("alone" in f.message for f in findings)
    assert all(f.claimed == 2 * f.measured for f in findings)


def test_no_rule_takes_part(ask: Any) -> None:
    assert ask(check, lambda x: jnp.sin(x) ** 2, normal(3)).verdict is Verdict.SKIP


def test_a_function_that_cannot_be_mapped(ask: Any) -> None:
    def called_back(x: Any) -> Any:
        return _right_product(x, x) + jax.lax.stop_gradient(
            jax.pure_callback(np.zeros_like, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        )

    outcome = ask(check, called_back, normal(3))
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ()) and "under vmap it raises" in outcome.note


def test_a_derivative_that_cannot_be_mapped_is_advice(ask: Any) -> None:
    f = jax.custom_jvp(lambda x: jnp.sin(x))
    shape = jax.ShapeDtypeStruct((3,), "float64")
    f.defjvp(lambda p, t: (f(p[0]), jax.pure_callback(np.cos, shape, p[0]) * t[0]))
    outcome = ask(check, lambda x: 2 * f(x), normal(3))
    (finding,) = outcome.findings
    assert (outcome.verdict, finding.verdict) == (Verdict.PASS, Verdict.ADVICE)
    assert finding.message.startswith("not differentiable under vmap: forward mode raises ")
    assert ask(check, f, normal(3)).findings == ()  # GRD205 says it of a rule itself
