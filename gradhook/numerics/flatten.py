"""Lay out the floating leaves of a tree of arrays in one vector, and name its elements.

A function of trees becomes a function from R^n to R^m: floating leaves are laid out in one float64 vector, a complex
leaf as its real parts and then its imaginary parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.annotations.inputs import Spec
from gradhook.comparison.probe import Label
from gradhook.numerics.finite_difference.richardson import Array


@dataclass(frozen=True)
class LeafInfo:
    """One floating array: its name, shape, dtype, and the spec it was drawn from, if any."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    spec: Spec | None = None
    argument: str = ""
    """The argument of the function that it belongs to."""

    @property
    def complex(self) -> bool:
        """Whether its numbers have an imaginary part."""
        return np.issubdtype(np.dtype(jnp.dtype(self.dtype)), np.complexfloating)

    @property
    def size(self) -> int:
        """The number of real numbers that it holds."""
        return math.prod(self.shape) * (2 if self.complex else 1)

    def labels(self) -> list[Label]:
        """The names of its numbers, in the order of the vector."""
        return [self.label(place) for place in range(self.size)]

    def label(self, place: int) -> Label:
        """The name of the number at a place of the vector."""
        part, place = divmod(place, math.prod(self.shape))
        index = tuple(int(i) for i in np.unravel_index(place, self.shape)) if self.shape else ()
        return Label(self.name, index, (".imag" if part else ".real") if self.complex else "")


@dataclass(frozen=True)
class FlatLayout:
    """The floating leaves of a tree, laid out in one vector."""

    leaves: tuple[LeafInfo, ...]

    @property
    def size(self) -> int:
        """The length of the vector."""
        return sum(leaf.size for leaf in self.leaves)

    def label(self, place: int) -> Label:
        """The name of one element of the vector, without making those of the others."""
        for leaf in self.leaves:
            if place < leaf.size:
                return leaf.label(place)
            place -= leaf.size
        raise IndexError(place)

    def labels(self) -> tuple[Label, ...]:
        """The name of every element of the vector."""
        return tuple(label for leaf in self.leaves for label in leaf.labels())

    def structs(self) -> list[Any]:
        """Smoothness and dtype of each leaf of a vector that is split."""
        kinds = [(leaf.shape, jnp.dtype("complex128" if leaf.complex else "float64")) for leaf in self.leaves]
        return [jax.ShapeDtypeStruct(*kind) for kind in kinds]  # type: ignore[no-untyped-call]

    def split(self, vector: Any) -> list[Any]:
        """The leaves, float64 or complex128, from a vector (traceable)."""
        if not self.leaves:
            return []
        # One equation, of which the transpose is one as well: slices would be added up again one by one.
        parts = jax.lax.split(vector, [leaf.size for leaf in self.leaves])
        return [_shaped(part, leaf) for part, leaf in zip(parts, self.leaves, strict=True)]

    def join(self, values: Sequence[Any]) -> Any:
        """The vector from the leaves (traceable)."""
        parts = [_real_parts(value, leaf) for value, leaf in zip(values, self.leaves, strict=True)]
        return jnp.concatenate(parts) if parts else jnp.zeros(0, jnp.float64)


def _shaped(part: Any, leaf: LeafInfo) -> Any:
    if leaf.complex:
        half = leaf.size // 2
        part = jax.lax.complex(part[:half], part[half:])
    return jax.lax.reshape(part, leaf.shape)


def _real_parts(value: Any, leaf: LeafInfo) -> Any:
    flat = jnp.ravel(value)
    if leaf.complex:
        return jnp.concatenate([flat.real, flat.imag]).astype(jnp.float64)
    return flat.astype(jnp.float64)


def is_floating(leaf: Any) -> bool:
    """Whether a leaf is differentiated: a floating or complex array or scalar, but no key array."""
    if isinstance(leaf, (bool, int, str, bytes)) or not (isinstance(leaf, (float, complex)) or hasattr(leaf, "dtype")):
        return False
    return bool(jnp.issubdtype(_dtype(leaf), jnp.inexact))


def is_array(leaf: Any) -> bool:
    """Whether a leaf is an array or a number; other leaves are static."""
    return isinstance(leaf, (bool, int, float, complex)) or hasattr(leaf, "dtype")


def leaf_of(name: str, value: Any, spec: Spec | None = None, argument: str = "") -> LeafInfo:
    """The description of a floating leaf."""
    return LeafInfo(name, tuple(int(n) for n in np.shape(value)), str(_dtype(value)), spec, argument)


def _dtype(value: Any) -> Any:
    return value.dtype if hasattr(value, "dtype") else np.result_type(type(value))


def vector_of(space: FlatLayout, values: Sequence[Any]) -> Array:
    """The float64 vector of given leaves, outside any tracing."""
    parts = []
    for value, leaf in zip(values, space.leaves, strict=True):
        wide = np.asarray(value).astype(np.complex128 if leaf.complex else np.float64).ravel()
        parts.append(np.concatenate([wide.real, wide.imag]) if leaf.complex else wide)
    return np.concatenate(parts) if parts else np.zeros(0)
