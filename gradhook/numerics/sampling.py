"""Draw the numbers that stand for an input spec."""

from __future__ import annotations

import hashlib
from typing import Any

import jax
import numpy as np

from gradhook.annotations.inputs import Spec
from gradhook.model.errors import GradhookError
from gradhook.numerics.finite_difference.richardson import Array

_DTYPES = {"integers": "int64"}


def generator(*names: object) -> np.random.Generator:
    """A generator seeded by names alone, so that a draw does not depend on what else runs."""
    text = "\x1f".join(str(name) for name in names)
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))


def sample(spec: Spec, random: np.random.Generator) -> Any:
    """Draw an array (or a PRNG key) for a spec.

    Floating values have all the digits of float64, so that a cast to a narrower format in a rule shows.

    Raises:
        GradhookError: the spec's kind or dtype is unknown.
    """
    if spec.kind == "key":
        return jax.random.key(int(random.integers(2**31)))
    dtype = _dtype(spec)
    values = _values(spec, random)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * _values(spec, random)
    return values.astype(dtype)


def _dtype(spec: Spec) -> np.dtype[Any]:
    try:
        return np.dtype(jax.numpy.dtype(spec.dtype or _DTYPES.get(spec.kind, "float64")))
    except TypeError as error:
        raise GradhookError(
            f"no dtype is called {spec.dtype!r}", "name one as numpy does, for example 'float64'"
        ) from error


def _values(spec: Spec, random: np.random.Generator) -> Any:
    match spec.kind:
        case "normal":
            return random.standard_normal(spec.shape)
        case "uniform":
            # A little inside: the bounds are the domain, and a point on its edge is a special case of its own.
            return spec.low + (spec.high - spec.low) * random.uniform(0.01, 0.99, spec.shape)
        case "positive":
            return np.exp(0.5 * random.standard_normal(spec.shape))
        case "integers":
            return random.integers(int(spec.low), int(spec.high), spec.shape)
        case "full":
            return np.full(spec.shape, spec.value)
        case "spd":
            return _spd(spec.shape, random)
        case "orthogonal":
            q, r = np.linalg.qr(random.standard_normal(spec.shape))
            return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]
        case "simplex":
            weights = np.exp(0.5 * random.standard_normal(spec.shape))
            return weights / weights.sum(axis=-1, keepdims=True)
    raise GradhookError(
        f"no input is of the kind {spec.kind!r}", "use the functions of gradhook, for example normal(3)"
    )


def _spd(shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Symmetric positive definite, eigenvalues from 1 to about 4."""
    size = shape[-1]
    root = random.standard_normal(shape) / np.sqrt(size)
    symmetric = root @ np.swapaxes(root, -1, -2) + np.eye(size)
    return np.asarray((symmetric + np.swapaxes(symmetric, -1, -2)) / 2)
