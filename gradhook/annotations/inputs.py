"""Specs of inputs that stand for arrays, each with its domain.

Specs are frozen records without JAX or numpy; the checker samples them (``numerics.sampling``) from a seed derived from
 the target's name.
"""

from __future__ import annotations

import math
from collections import namedtuple

TYPE_CHECKING = False  # typing's own constant would cost an import of typing
if TYPE_CHECKING:
    from collections.abc import Sequence

    ArrayShape = tuple[int, ...]


class Spec(namedtuple("Spec", ("kind", "shape", "low", "high", "value", "dtype"))):
    """An input to be drawn: a distribution, a shape, and the domain that no evaluation may leave.

    ``low`` and ``high`` bound every element; an infinite bound binds nothing. Neither a dataclass nor a
    ``typing.NamedTuple``: importing either module alone costs more than everything else in ``import gradhook``.
    """

    __slots__ = ()


def _spec(
    kind: str,
    shape: ArrayShape = (),
    low: float = -math.inf,
    high: float = math.inf,
    value: float = 0.0,
    dtype: str | None = None,
) -> Spec:
    return Spec(kind, shape, low, high, value, dtype)


def _shape(sizes: tuple[int | Sequence[int], ...]) -> ArrayShape:
    """``normal(3)``, ``normal(3, 4)`` and ``normal((3, 4))`` all name a shape; ``normal()`` is a scalar."""
    if len(sizes) == 1 and not isinstance(sizes[0], int):
        sizes = tuple(sizes[0])
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise TypeError(f"a shape is made of whole numbers from 0 up, not {size!r}")
    return tuple(int(size) for size in sizes if isinstance(size, int))


def normal(*shape: int | Sequence[int], dtype: str | None = None) -> Spec:
    """Standard normal values of the given shape; the domain is the whole line."""
    return _spec("normal", _shape(shape), dtype=dtype)


def uniform(*shape: int | Sequence[int], low: float = 0.0, high: float = 1.0, dtype: str | None = None) -> Spec:
    """Uniform values in the open interval from ``low`` to ``high``, which is the domain.

    Raises:
        ValueError: ``low`` is not below ``high``, or one of them is not finite.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"uniform needs finite bounds with low < high, not low={low!r}, high={high!r}")
    return _spec("uniform", _shape(shape), low=float(low), high=float(high), dtype=dtype)


def positive(*shape: int | Sequence[int], dtype: str | None = None) -> Spec:
    """Positive values around 1 (log-normal); the domain is the positive half-line."""
    return _spec("positive", _shape(shape), low=0.0, dtype=dtype)


def integers(*shape: int | Sequence[int], low: int = 0, high: int = 10, dtype: str | None = None) -> Spec:
    """Whole numbers from ``low`` up to, not including, ``high``; they are not differentiated.

    Raises:
        ValueError: ``low`` is not below ``high``.
    """
    if not low < high:
        raise ValueError(f"integers needs low < high, not low={low!r}, high={high!r}")
    return _spec("integers", _shape(shape), low=float(low), high=float(high), dtype=dtype)


def full(*shape: int | Sequence[int], value: float, dtype: str | None = None) -> Spec:
    """The same value everywhere."""
    return _spec("full", _shape(shape), value=float(value), dtype=dtype)


def zeros(*shape: int | Sequence[int], dtype: str | None = None) -> Spec:
    """Zeros."""
    return _spec("full", _shape(shape), value=0.0, dtype=dtype)


def ones(*shape: int | Sequence[int], dtype: str | None = None) -> Spec:
    """Ones."""
    return _spec("full", _shape(shape), value=1.0, dtype=dtype)


def spd(size: int, *batch: int, dtype: str | None = None) -> Spec:
    """A symmetric positive definite matrix, ``(*batch, size, size)``, eigenvalues between about 1 and 4.

    It is differentiated along symmetric directions only: others leave the domain.
    """
    return _spec("spd", (*_shape(batch), *_shape((size, size))), dtype=dtype)


def orthogonal(size: int, *batch: int, dtype: str | None = None) -> Spec:
    """An orthogonal matrix, ``(*batch, size, size)``, Haar-distributed; differentiated in all entries."""
    return _spec("orthogonal", (*_shape(batch), *_shape((size, size))), dtype=dtype)


def simplex(*shape: int | Sequence[int], dtype: str | None = None) -> Spec:
    """Probabilities, summing to 1 along the last axis; differentiated along directions that keep the sum."""
    return _spec("simplex", _shape(shape), low=0.0, high=1.0, dtype=dtype)


def key() -> Spec:
    """A JAX PRNG key (new style), not differentiated."""
    return _spec("key")
