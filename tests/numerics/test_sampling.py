"""What is drawn for an input spec lies in its domain, is reproducible, and has all the bits of its dtype."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradhook
from gradhook.annotations.inputs import Spec
from gradhook.model.errors import GradhookError
from gradhook.numerics.sampling import generator, sample

SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
SEEDS = st.integers(0, 2**32)
BOUNDS = st.tuples(st.floats(-1e3, 1e3, width=32), st.floats(2**-7, 1e3, width=32))
SPECS = st.one_of(
    SHAPES.map(gradhook.normal),
    SHAPES.map(gradhook.positive),
    SHAPES.map(gradhook.integers),
    SHAPES.map(gradhook.zeros),
    SHAPES.map(gradhook.ones),
    st.tuples(SHAPES, BOUNDS).map(lambda p: gradhook.uniform(*p[0], low=p[1][0], high=p[1][0] + p[1][1])),
    st.tuples(st.integers(1, 5), st.integers(0, 3)).map(lambda p: gradhook.spd(*p)),
    st.tuples(st.integers(1, 5), st.integers(0, 3)).map(lambda p: gradhook.orthogonal(*p)),
    st.tuples(st.integers(0, 3), st.integers(1, 6)).map(lambda p: gradhook.simplex(*p)),
)


@given(SPECS, SEEDS)
def test_shape_domain_and_precision(spec: Spec, seed: int) -> None:
    values = sample(spec, generator(seed))
    assert values.shape == spec.shape
    assert values.dtype == ("int64" if spec.kind == "integers" else "float64")
    assert np.isfinite(values).all()
    assert (values >= spec.low).all() and (values <= spec.high).all()


@pytest.mark.parametrize(
    "spec",
    [gradhook.normal(9), gradhook.uniform(9), gradhook.positive(9), gradhook.spd(3), gradhook.orthogonal(3),
     gradhook.simplex(9)],
    ids=lambda spec: spec.kind,
)  # fmt: skip
def test_a_cast_to_single_precision_shows_in_every_draw(spec: Spec) -> None:
    values = sample(spec, generator("a"))
    assert (values != values.astype(np.float32)).mean() > 0.8


@given(SHAPES, BOUNDS, SEEDS)
def test_the_ends_of_an_interval_are_not_drawn(shape: tuple[int, ...], bounds: tuple[float, float], seed: int) -> None:
    low, high = bounds[0], bounds[0] + bounds[1]
    values = sample(gradhook.uniform(*shape, low=low, high=high), generator(seed))
    assert (values > low).all() and (values < high).all()


@given(st.integers(1, 6), st.integers(0, 3), SEEDS)
def test_positive_definite(size: int, batch: int, seed: int) -> None:
    values = sample(gradhook.spd(size, batch), generator(seed))
    assert (values == np.swapaxes(values, -1, -2)).all()
    assert (np.linalg.eigvalsh(values) > 0.99).all()


@given(st.integers(1, 6), SEEDS)
def test_orthogonal(size: int, seed: int) -> None:
    values = sample(gradhook.orthogonal(size), generator(seed))
    assert np.allclose(values @ values.T, np.eye(size), atol=1e-6)


@given(st.integers(1, 3), st.integers(1, 6), SEEDS)
def test_probabilities(rows: int, size: int, seed: int) -> None:
    values = sample(gradhook.simplex(rows, size), generator(seed))
    assert (values > 0).all()
    assert np.allclose(values.sum(axis=-1), 1, atol=1e-6)


def test_a_draw_depends_on_names_alone() -> None:
    spec = gradhook.normal(5)
    first = sample(spec, generator("pkg.mod:f", "batch", 0))
    assert (sample(spec, generator("pkg.mod:f", "batch", 0)) == first).all()
    for other in (("pkg.mod:g", "batch", 0), ("pkg.mod:f", "batch", 1), ("pkg.mod:fbatch", "", 0)):
        assert (sample(spec, generator(*other)) != first).all()


def test_a_draw_is_the_same_on_every_machine() -> None:
    assert generator("pkg.mod:f").integers(2**31) == 1251879062


def test_keys() -> None:
    key = sample(gradhook.key(), generator("a"))
    assert jax.numpy.issubdtype(key.dtype, jax.dtypes.prng_key)
    assert (jax.random.key_data(key) != jax.random.key_data(sample(gradhook.key(), generator("b")))).any()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64", "complex128"])
def test_dtypes(dtype: str) -> None:
    values = sample(gradhook.normal(4, dtype=dtype), generator("a"))
    assert str(values.dtype) == dtype
    assert np.iscomplexobj(values) == dtype.startswith("complex")
    assert len(set(values.tolist())) == 4


def test_a_given_value_keeps_all_its_bits() -> None:
    assert (sample(gradhook.full(2, value=0.1), generator("a")) == 0.1).all()


@pytest.mark.parametrize(
    "spec, message, help",
    [
        (gradhook.normal(3, dtype="double-ish"), "'double-ish'", "float64"),
        (Spec("gaussian", (3,), 0.0, 1.0, 0.0, None), "'gaussian'", "normal(3)"),
    ],
)
def test_what_is_unknown_is_named(spec: Any, message: str, help: str) -> None:
    with pytest.raises(GradhookError) as caught:
        sample(spec, generator("a"))
    assert message in caught.value.message and help in caught.value.help
