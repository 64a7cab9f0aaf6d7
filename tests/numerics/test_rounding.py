"""How far rounding may move what a program computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.numerics.autodiff import rounding

EPS = float(np.finfo(np.float64).eps)
X = np.array([0.5, 19.0, 1.7])


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize(
    "function, terms",
    [
        (lambda x: 3.0 * x, 3 * X),
        (lambda x: 1 - jnp.tanh(x) ** 2, np.ones(3)),
        (lambda x: jax.jvp(jnp.tanh, (x,), (jnp.ones(3),))[1], np.ones(3)),
        (lambda x: jnp.sum(1.5 * x * jnp.array([1e8, -1e8, 1e-6])), np.array(3e9)),
        (lambda x: jax.lax.map(lambda y: 1 - jnp.tanh(y) ** 2, x), np.ones(3)),
        (lambda x: jax.lax.cond(x[0] > 0, lambda x: 3 * x, lambda x: x, x), 3 * X),
        (lambda x: jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, 1.1 * s[1]), (0, x))[1], 1.1**3 * X),
        (lambda x: jax.jit(jax.checkpoint(lambda x: 3.0 * x))(x), 3 * X),
    ],
)
def test_it_is_that_of_the_terms(function: Any, terms: Any) -> None:
    found = rounding.of(function, X)
    assert (found >= 0.2 * EPS * terms).all() and (found <= 64 * EPS * terms).all()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: -x[::-1],
        lambda x: jnp.round(x / 0.1),
        lambda x: jnp.where(jnp.abs(x * 1.0) <= 1.7, 1.0, 0.0),
        lambda x: x.astype(jnp.bfloat16).astype(x.dtype),
        lambda x: x.astype(jnp.float32).astype(x.dtype),
    ],
)
def test_leaps_and_coarse_numbers_lend_nothing(function: Any) -> None:
    np.testing.assert_array_equal(rounding.of(function, X), 0.0)


def test_inputs_are_rounded_numbers_where_they_are_said_to_be() -> None:
    pi = np.array([np.pi])
    assert rounding.of(jnp.sin, pi)[0] < 1e-30
    assert 1e-16 < rounding.of(jnp.sin, pi, inputs=True)[0] < 1e-14


def test_no_element_counts_for_another() -> None:
    found = rounding.of_forward(lambda x: x * jnp.array([1e8, 1.0, 1e-8]), X, np.eye(3))
    assert (np.diag(found) <= 64 * EPS * np.array([1e8, 1.0, 1e-8])).all() and (np.triu(found, 1) == 0).all()


def test_reverse_mode_along_directions() -> None:
    def f(x: Any) -> Any:
        return jnp.sum(x * jnp.array([1e8, 1.0, 1e-8]))[None]

    found = rounding.of_reverse(f, X, np.eye(3), np.ones((1, 1)))
    assert found.shape == (3, 1) and (found[:, 0] <= 64 * EPS * np.array([1e8, 1.0, 1e-8])).all()


def test_terms_that_one_operation_sums_round_inside_it() -> None:
    row, column = np.array([[1e8, -1e8, 1e-6]]), np.array([1.5, 1.5, 1.7])
    (found,) = rounding.of(jnp.matmul, row, column)
    assert 0.2 * EPS * 3e8 <= found <= 64 * EPS * 3e8


def test_a_rule_for_batches_is_opened() -> None:
    total = jax.custom_batching.custom_vmap(lambda x: x[0] + x[1] + x[2])
    total.def_vmap(lambda size, batched, x: (x.sum(axis=1), True))
    assert rounding.of(total, np.array([1e13 / 3, 1.1, -1e13 / 3])) > 1e-5


def test_multiples_of_a_cotangent_round_in_proportion() -> None:
    found = rounding.of_pullbacks(lambda x: jnp.sin(x) * 3.0, X, np.stack([np.ones(3), np.full(3, 2.0**40)]))
    assert found.shape == (2, 3) and (found[1] > 2.0**36 * found[0]).all()
