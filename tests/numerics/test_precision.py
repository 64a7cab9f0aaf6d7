"""Where a function computes in less than float64, the equation and its line are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.comparison.probe import Downcast
from gradhook.numerics.function import bind_arguments, flatten_function
from gradhook.numerics.jaxpr.flows import dependence
from gradhook.numerics.sampling import generator


def _narrowings(function: Any, x: Any = 0.5) -> list[Downcast]:
    found = dependence(flatten_function(function, bind_arguments(function, (x,), {}, None, generator("test"))))
    return [what for what, _ in found.narrowed]


def _line_of(mark: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def _cast(x: Any) -> Any:
    return jnp.sin(x.astype(jnp.float32))  # the cast


def _constant(x: Any) -> Any:
    return x + jnp.sum(jnp.ones(3, jnp.float32))


@jax.jit
def _inside_jit(x: Any) -> Any:
    return jnp.cos(x.astype(jnp.bfloat16)).astype(x.dtype)  # the half


def _inside_scan(x: Any) -> Any:
    def body(carry: Any, _: Any) -> Any:
        return carry.astype(jnp.float32).astype(jnp.float64) * 2, None  # the body

    return jax.lax.scan(body, x, length=3)[0]


@pytest.mark.parametrize(
    "function, mark, dtype",
    [
        (_cast, "the cast", "float32"),
        (_inside_jit, "the half", "bfloat16"),
        (_inside_scan, "the body", "float32"),
    ],
)
def test_casts_are_found_with_their_line(function: Any, mark: str, dtype: str) -> None:
    assert _narrowings(function) == [(f"a cast to {dtype}", __file__, _line_of(mark))]


@pytest.mark.parametrize("function", [jnp.sin, _constant, lambda x: x.astype(jnp.int32) * x, lambda x: jnp.round(x)])
def test_what_stays_wide(function: Any) -> None:
    assert _narrowings(function) == []


def test_a_complex_number_counts_as_its_parts() -> None:
    assert _narrowings(lambda z: z * 2, 1 + 2j) == []
    assert _narrowings(lambda z: z.astype(jnp.complex64), 1 + 2j)[0][0] == "a cast to complex64"


def test_the_same_place_is_named_once() -> None:
    def twice(x: Any) -> Any:
        return sum(x.astype(jnp.float32) for _ in range(3))

    assert len(_narrowings(twice)) == 1


def test_functions_that_cannot_be_traced_tell_nothing() -> None:
    assert _narrowings(lambda x: np.float32(x) * x) == []
