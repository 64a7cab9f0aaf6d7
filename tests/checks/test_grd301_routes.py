"""GRD301: every way to compute a derivative gives the same, to rounding."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal
from gradhook.checks import grd301_routes as check
from gradhook.model.results import Verdict
from gradhook.numerics.autodiff import consistency
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.function_probe import CheckCase, CheckOptions, FunctionProbe


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
    assert (outcome.verdict is Verdict.FAIL, outcome.findings) == (False, ())


def test_a_derivative_that_cannot_be_mapped_is_advice(ask: Any) -> None:
    shape, one = jax.ShapeDtypeStruct((3,), "float64"), _table(1.0)
    f = _ruled(jnp.sin, lambda x: jax.pure_callback(np.cos, shape, x))
    outcome = ask(check, lambda x: f(x) + one(x), normal(3))
    (finding,) = outcome.findings
    assert (outcome.verdict, finding.verdict) == (Verdict.PASS, Verdict.ADVICE)
    assert finding.message.startswith("not differentiable under vmap: forward mode raises ")


def _ruled(function: Any, slope: Any) -> Any:
    f = jax.custom_jvp(lambda x: function(x))
    f.defjvp(lambda p, t: (f(p[0]), slope(p[0]) * t[0]))
    return f


def _table(factor: float) -> Any:
    """A sine of its own batching rule, which may be off by a factor."""
    table = jax.custom_batching.custom_vmap(lambda x: jnp.sin(3 * x))
    table.def_vmap(lambda size, batched, x: (jnp.sin(3 * x) * factor, True))
    return table


@pytest.mark.parametrize(
    ("function", "slope", "x"),
    [
        (jnp.log, lambda x: 1 / x, np.array([0.01, 60.0])),
        (jnp.log, lambda x: 1 / x, 1e-5),
        (jnp.sqrt, lambda x: 0.5 / jnp.sqrt(x), 1e-8),
        (jnp.arcsin, lambda x: 1 / jnp.sqrt(1 - x * x), 0.999999),
        (lambda x: x - jnp.nanmean(x), jnp.ones_like, np.array([0.3, np.nan, 1.7])),
    ],
)
@pytest.mark.parametrize("batching", [False, True])
def test_a_point_beside_the_edge_of_a_domain(ask: Any, function: Any, slope: Any, x: Any, batching: bool) -> None:
    """A batch is filled with points that have values; where there are none, nan equals nan."""
    f = _ruled(function, slope)
    one = _table(1.0)
    outcome = ask(check, (lambda x: f(x) + one(x)) if batching else f, x)
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())


@pytest.mark.parametrize("factor", [1.0, 1.01])
@pytest.mark.parametrize(
    "beside",
    [
        lambda x, y: jnp.stack([jnp.full_like(x, -jnp.inf), y]),
        lambda x, y: jnp.stack([1e12 * x, y]),
        lambda x, y: jnp.stack([jnp.log(-jnp.exp(x)), y]),
    ],
    ids=["a masked logit", "a large output", "a nan"],
)
def test_what_stands_beside_a_fault_hides_nothing(ask: Any, beside: Any, factor: float) -> None:
    table = _table(factor)
    outcome = ask(check, lambda x: beside(x[0], table(x[1])), np.array([0.3, 0.7]))
    assert outcome.verdict is (Verdict.PASS if factor == 1 else Verdict.FAIL)
    for finding in outcome.findings:
        assert finding.claimed == pytest.approx(factor * finding.measured, rel=1e-9)


def test_rounding_of_a_small_difference_is_no_fault(ask: Any) -> None:
    """Both sums are right; in another order they differ by what rounding leaves, a thousandth of the result."""
    total = jax.custom_batching.custom_vmap(lambda x: x[0] + x[1] + x[2] + x[3])
    total.def_vmap(lambda size, batched, x: ((x[:, 0] + x[:, 3]) + (x[:, 1] + x[:, 2]), True))
    x = np.array([1e13 / 3, 1.1, 0.7, -1e13 / 3])
    one, other = float(x[0] + x[1] + x[2] + x[3]), float((x[0] + x[3]) + (x[1] + x[2]))
    assert abs(one - other) > 1e-5
    assert ask(check, lambda x: total(x)[None], x).verdict is Verdict.PASS


def test_only_what_a_rule_could_make_differ_is_compiled(ask: Any) -> None:
    """Without a batching rule vmap agrees by construction, without symbolic zeros one argument alone does."""
    with jax.enable_x64(True):
        probe = _probe(lambda x, y: _right_product(x, y), 1.5, 2.0)
        assert {route.name for route in probe.routes()} == {"by linearize"}
        probe = _probe(lambda x, y: _product(x, y), 1.5, 2.0)
        assert {route.name for route in probe.routes()} == {"by linearize", "x alone", "y alone"}
        assert {route.name for route in _probe(_square(0, 1), 1.5).routes()} >= {"under vmap"}
        assert _probe(jnp.sin, 1.5).routes() == []


def test_a_way_that_takes_too_long_to_compile_is_named(ask: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(consistency, "EQUATIONS", 3)
    outcome = ask(check, lambda x, y: _right_product(x, y), 1.5, 2.0)
    assert outcome.verdict is Verdict.SKIP
    assert "by linearize: not asked, it takes" in outcome.note


def _probe(function: Any, *args: Any) -> FunctionProbe:
    return FunctionProbe(function, CheckCase("batch", args), CheckOptions(), "seed", Clock())
