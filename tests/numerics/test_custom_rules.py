"""Rules and stopped values are found and replaced wherever a function uses them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.comparison.judge import Tolerance
from gradhook.comparison.probe import DerivativeError
from gradhook.numerics.autodiff.derivatives import MODES, Differentiator
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.function import bind_arguments, flatten_function
from gradhook.numerics.jaxpr.custom_rules import RuleRewriter
from gradhook.numerics.sampling import generator

POINT = np.array([0.5, 1.25])
SCALE = jnp.array([2.0, 3.0])


@jax.custom_jvp
def ruled(x: Any) -> Any:
    return jnp.sin(x) * SCALE  # an array from outside becomes a constant of the rule's code


ruled.defjvps(lambda tangent, _, x: 0 * tangent)


@jax.custom_vjp
def pulled(x: Any, y: Any) -> Any:
    return ruled(x) * y


pulled.defvjp(lambda x, y: (pulled(x, y), None), lambda _, w: (0 * w, 0 * w))


def plain(x: Any) -> Any:
    return jnp.sin(x) * SCALE


def _everywhere(rule: Any, pair: Any, stop: Any) -> Any:
    """One function over two kinds of parts: with rules, and written without."""

    def function(x: Any) -> Any:
        looped = jax.lax.scan(lambda c, _: (rule(c), None), x, None, length=2)[0]
        branched = jax.lax.cond(x[0] > 0, lambda x: pair(x, x), lambda x: x, x)
        repeated = jax.lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, rule(c[1])), (0, x))[1]
        mapped = jax.lax.map(rule, jnp.stack([x, x]))[1]
        return jax.jit(rule)(x) + looped + branched + jax.checkpoint(rule)(x) + repeated + mapped + stop(x)

    return function


def _rewriter(function: Any) -> RuleRewriter:
    held = flatten_function(function, bind_arguments(function, (POINT,), {}, None, generator("test")))
    return RuleRewriter(Differentiator(held, "test", MODES, Tolerance(), None, Clock()), function)


WITH = _everywhere(ruled, pulled, jax.lax.stop_gradient)
WITHOUT = _everywhere(plain, lambda x, y: plain(x) * y, lambda x: x)


@pytest.mark.parametrize("path", [(), ("fwd",)], ids=["first", "second"])
def test_all_removed_is_the_derivative_of_the_code(path: tuple[str, ...]) -> None:
    removed, user_function = _rewriter(WITH), _rewriter(WITHOUT)
    claim = removed.claim(frozenset(range(len(removed.rules_in_use))), path, "fwd")
    expected = user_function.claim(frozenset(), path, "fwd")
    assert not isinstance(claim, DerivativeError) and not isinstance(expected, DerivativeError)
    np.testing.assert_allclose(claim, expected, rtol=1e-14)


def test_what_is_found() -> None:
    found = {(s.kind, s.name, s.outermost) for s in _rewriter(WITH).rules_in_use}
    assert found == {
        ("custom_jvp", "ruled", True),
        ("custom_vjp", "pulled", True),
        ("stop_gradient", "stop_gradient", True),
    }
    assert {s.path for s in _rewriter(WITH).rules_in_use} == {__file__}


def test_one_removed_leaves_the_others() -> None:
    rewriter = _rewriter(lambda x: ruled(x) + x * jax.lax.stop_gradient(x))
    rule, stop = (
        [k for k, s in enumerate(rewriter.rules_in_use) if s.kind == kind] for kind in ("custom_jvp", "stop_gradient")
    )
    without_rule = rewriter.claim(frozenset(rule), (), "fwd")
    without_stop = rewriter.claim(frozenset(stop), (), "fwd")
    assert not isinstance(without_rule, DerivativeError) and not isinstance(without_stop, DerivativeError)
    np.testing.assert_allclose(without_rule[0], [np.cos(0.5) * 2 + 0.5, 0], rtol=1e-14)
    np.testing.assert_allclose(without_stop[0], [2 * 0.5, 0], rtol=1e-14)


def test_nesting_and_names() -> None:
    (outer, nested) = _rewriter(lambda x: pulled(x, x)).rules_in_use
    assert (outer.name, outer.outermost, nested.name, nested.outermost) == ("pulled", True, "ruled", False)
    assert nested.under == {(outer.path, outer.line)}


def test_the_target_itself_and_what_jax_brings() -> None:
    assert [s.itself for s in _rewriter(ruled).rules_in_use] == [True]
    assert [s.of_jax for s in _rewriter(lambda x: jax.nn.relu(x)).rules_in_use] == [True]


def test_what_cannot_be_traced_has_no_suspects() -> None:
    assert _rewriter(lambda x: ruled(x) if x[0] > 0 else x).rules_in_use == ()


def test_code_that_cannot_be_differentiated_is_a_fault() -> None:
    @jax.custom_jvp
    def called(x: Any) -> Any:
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    called.defjvps(lambda tangent, _, x: jnp.cos(x) * tangent)
    assert isinstance(_rewriter(lambda x: called(x)).claim(frozenset([0]), (), "fwd"), DerivativeError)
