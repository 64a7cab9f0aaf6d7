"""Is the user's function found under what JAX and decorators made of it?"""

from __future__ import annotations

import inspect
from functools import partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.jaxpr.source import signature, user_function


def plain(x: Any, scale: Any = 2.0) -> Any:
    return jnp.sin(x) * scale


def paired(x: Any, scale: Any = 2.0) -> Any:
    return plain(x, scale), lambda g: (g, g)


def _wrapped() -> Any:
    @wraps(plain)
    def outer(*args: Any, **kwargs: Any) -> Any:
        return plain(*args, **kwargs)

    return outer


@pytest.mark.parametrize(
    ("function", "inner"),
    [
        (plain, plain),
        (jax.jit(plain), plain),
        (jax.custom_jvp(plain), plain),
        (jax.jit(jax.custom_vjp(plain)), plain),
        (partial(jax.jit(plain), scale=1.0), plain),
        (_wrapped(), plain),
        (jax.custom_gradient(paired), paired),
        (jax.jit(jax.custom_gradient(paired)), paired),
    ],
)
def test_the_function_that_was_written(function: Any, inner: Any) -> None:
    assert user_function(function) is inner


def test_custom_gradient_hides_the_parameters() -> None:
    assert list(signature(jax.custom_gradient(paired)).parameters) == ["x", "scale"]
    assert list(signature(partial(plain, scale=1.0)).parameters) == ["x", "scale"]
    with pytest.raises((TypeError, ValueError)):
        signature(3)


def test_a_rule_by_custom_gradient_has_the_users_name_and_place() -> None:
    traced = jax.make_jaxpr(lambda x: jax.custom_gradient(paired)(x))(1.0)
    (code,) = [c for e in traverse.equations(traced) if (c := traverse.primal_code(e)) is not None]
    assert traverse.definition(code) == ("paired", inspect.getsourcefile(paired), paired.__code__.co_firstlineno)


def test_one_without_an_equation_is_told_by_its_kind() -> None:
    traced = jax.make_jaxpr(lambda x: jax.custom_gradient(lambda x: (x, lambda g: 2 * g))(x))(1.0)
    (code,) = [c for e in traverse.equations(traced) if (c := traverse.primal_code(e)) is not None]
    assert traverse.definition(code) == ("custom_gradient", "", 0)
