"""A tree of arrays as one vector of float64, and back, with a name for every number."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradhook.numerics.flatten import FlatLayout, LeafInfo, is_array, is_floating, leaf_of, vector_of

SHAPES = st.lists(st.tuples(st.lists(st.integers(0, 3), max_size=3), st.booleans()), max_size=4)


@given(SHAPES, st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_split_and_join_are_inverse(described: list[tuple[list[int], bool]], seed: int) -> None:
    random = np.random.default_rng(seed)
    values = [
        random.standard_normal(shape) + (1j * random.standard_normal(shape) if complex else 0)
        for shape, complex in described
    ]
    space = FlatLayout(tuple(leaf_of(f"x{n}", value) for n, value in enumerate(values)))
    vector = vector_of(space, values)
    assert vector.shape == (space.size,) == (len(space.labels()),)
    parts = space.split(jnp.asarray(vector))
    assert all((np.asarray(part) == value).all() for part, value in zip(parts, values, strict=True))
    assert (np.asarray(space.join(parts)) == vector).all()


def test_labels_name_every_number() -> None:
    space = FlatLayout(
        (LeafInfo("w", (1, 2), "float64"), LeafInfo("b", (), "float32"), LeafInfo("z", (2,), "complex128"))
    )
    assert [str(label) for label in space.labels()] == [
        "w[0, 0]", "w[0, 1]", "b", "z[0].real", "z[1].real", "z[0].imag", "z[1].imag",
    ]  # fmt: skip


def test_join_widens() -> None:
    space = FlatLayout((LeafInfo("x", (2,), "float32"),))
    assert space.join([jnp.ones(2, jnp.float32)]).dtype == jnp.float64
    assert space.split(jnp.ones(2))[0].dtype == jnp.float64


@pytest.mark.parametrize(
    "value, floating, array",
    [
        (1.0, True, True),
        (1j, True, True),
        (1, False, True),
        (True, False, True),
        (np.float32(1), True, True),
        (np.arange(3), False, True),
        (np.ones(3, np.float16), True, True),
        (np.array([True]), False, True),
        ("relu", False, False),
        (b"relu", False, False),
        (None, False, False),
        (len, False, False),
    ],
)
def test_which_leaves_are_differentiated(value: Any, floating: bool, array: bool) -> None:
    assert (is_floating(value), is_array(value)) == (floating, array)


def test_arrays_of_jax() -> None:
    assert is_floating(jnp.ones(2, jnp.bfloat16)) and is_floating(jnp.ones(2, complex))
    assert not is_floating(jnp.arange(2))
    assert is_array(jax.random.key(0)) and not is_floating(jax.random.key(0))
    assert not is_floating(jax.random.PRNGKey(0))


@pytest.mark.parametrize("value, dtype", [(1.0, "float64"), (1j, "complex128"), (np.float32(2), "float32")])
def test_descriptions(value: Any, dtype: str) -> None:
    assert leaf_of("x", value) == LeafInfo("x", (), dtype)
