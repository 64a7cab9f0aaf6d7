"""A mode that JAX does not have is no fault of the user's; anything else is, and has a place."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.numerics.autodiff.derivative_errors import classify, users_frame


@jax.custom_vjp
def _reverse_only(x: Any) -> Any:
    return jnp.sin(x)


_reverse_only.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * jnp.cos(x),))


def _loop(x: Any) -> Any:
    return jax.lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] * x, c[1] + 1), (x, 0))[0]


@jax.jit
def _dynamic_loop(x: Any) -> Any:
    return jax.lax.fori_loop(0, jnp.asarray(x, int), lambda i, c: c * x, x)


def _callback(x: Any) -> Any:
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), x.dtype), x)


def _forward(function: Any) -> Any:
    return jax.jvp(function, (1.5,), (1.0,))


def _reverse(function: Any) -> Any:
    return jax.grad(function)(1.5)


@pytest.mark.parametrize(
    "mode, function, reason",
    [
        (_forward, _reverse_only, "custom_vjp has no forward rule"),
        (_reverse, _loop, "while_loop has no reverse rule"),
        (_reverse, _dynamic_loop, "while_loop has no reverse rule"),
        (_forward, _callback, "callback has no derivative rule"),
        (_reverse, _callback, "callback has no derivative rule"),
        (_forward, lambda x: jax.grad(_reverse_only)(x) + _reverse_only(x), "custom_vjp has no forward rule"),
    ],
)
def test_modes_that_do_not_exist(mode: Any, function: Any, reason: str) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        mode(function)
    fault = classify(caught.value)
    assert fault.missing and reason in fault.message


@jax.custom_jvp
def _wrong(x: Any) -> Any:
    return jnp.sin(x)


@_wrong.defjvp
def _wrong_jvp(primals: Any, tangents: Any) -> Any:
    return jnp.sin(primals[0]), jnp.zeros(3)  # another shape than the value's


@pytest.mark.parametrize("mode", [_forward, _reverse])
def test_a_rule_of_the_wrong_shape_is_a_fault(mode: Any) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        mode(_wrong)
    fault = classify(caught.value)
    assert not fault.missing and fault.message.startswith("TypeError: ")


def _raise() -> None:
    raise ValueError("\n\n  first line\nsecond line")


def test_the_message_is_one_line_with_the_place() -> None:
    with pytest.raises(ValueError, match="first") as caught:
        jax.jvp(lambda x: _raise(), (1.0,), (1.0,))
    fault = classify(caught.value)
    assert fault.message == "ValueError: first line second line"
    assert (fault.path, fault.line) == (__file__, _raise.__code__.co_firstlineno + 1)


def test_an_exception_without_words() -> None:
    assert classify(KeyError()).message == "KeyError"


def test_no_frame_at_all() -> None:
    assert users_frame(ValueError("never raised")) == ("", 0)
