"""Make a derivative wrong by a chosen amount, without compiling anything anew for the next amount."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import sharing
from catalogue.records import Point
from jax.custom_derivatives import linear_call

from gradhook.numerics.autodiff import derivatives

Variant = Literal["tangent", "transposed", "pullback"]
"""Which rule a mutant has: a ``custom_jvp``; one whose transpose alone is wrong; a ``custom_vjp``."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Dose:
    """Relative errors: of each input's tangent, of each output's, of second derivatives alone, of the transpose."""

    inputs: tuple[Any, ...]
    outputs: Any
    second: Any
    transposed: Any

    def with_outputs(self, outputs: Any) -> Dose:
        """Errors for each output of the flattened function."""
        return replace(self, outputs=outputs)

    def with_input(self, place: int, errors: Any) -> Dose:
        """Errors for each element of one argument."""
        return replace(self, inputs=(*self.inputs[:place], errors, *self.inputs[place + 1 :]))

    def with_scalars(self, second: float = 0.0, transposed: float = 0.0) -> Dose:
        """Errors of everything."""
        return replace(self, second=np.float64(second), transposed=np.float64(transposed))


def nothing(point: Point, outputs: int) -> Dose:
    """No error at all."""
    return Dose(tuple(np.zeros(np.shape(a)) for a in point), np.zeros(outputs), np.float64(0.0), np.float64(0.0))


_dose: Dose | None = None


def mutated(function: Callable[..., Any], variant: Variant) -> Callable[..., Any]:
    """``function`` with a rule that is right up to the dose that is current when it is traced."""
    return _pullback(function) if variant == "pullback" else _tangent(function, variant)


def _tangent(function: Callable[..., Any], variant: Variant) -> Callable[..., Any]:
    @jax.custom_jvp
    def mutant(*args: Any) -> Any:
        return function(*args)

    @mutant.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        assert _dose is not None
        # x + e (x - stop_gradient(x)) is x, but its own derivative is 1 + e: what is differentiated once more is off.
        moved = tuple(x + _dose.second * (x - jax.lax.stop_gradient(x)) for x in primals)
        going = tuple(t * (1 + e) for t, e in zip(tangents, _dose.inputs, strict=True))
        coming = jax.jvp(function, moved, going)[1]
        if variant == "transposed":
            coming = jax.tree.map(
                lambda t: linear_call(lambda e, t: t, lambda e, c: c * (1 + e), _dose.transposed, t), coming
            )
        return function(*primals), _each(coming, _dose.outputs)

    return mutant


def _each(tangents: Any, errors: Any) -> Any:
    """Every number of a tree times one plus its own error; a complex one by the error of its real part."""
    leaves, tree = jax.tree.flatten(tangents)
    start, changed = 0, []
    for leaf in leaves:
        if leaf.dtype == jax.dtypes.float0:
            changed.append(leaf)
            continue
        changed.append(leaf * (1 + errors[start : start + leaf.size].reshape(leaf.shape)))
        start += leaf.size * (2 if jnp.iscomplexobj(leaf) else 1)
    return jax.tree.unflatten(tree, changed)


def _pullback(function: Callable[..., Any]) -> Callable[..., Any]:
    @jax.custom_vjp
    def mutant(*args: Any) -> Any:
        return function(*args)

    def forward(*args: Any) -> Any:
        return jax.vjp(function, *args)

    def backward(pull: Any, cotangent: Any) -> Any:
        assert _dose is not None
        return tuple(g * (1 + _dose.transposed) for g in pull(cotangent))

    mutant.defvjp(forward, backward)
    return mutant


@contextmanager
def dosing(variant: Variant, dose: Dose) -> Iterator[None]:
    """Within, derivatives of mutants take their errors from ``dose``; values come from the original's programs."""
    original = derivatives.Programs

    class Dosed(original):  # type: ignore[misc, valid-type]
        def _compile(self, name: str, program: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
            if name == "values" or (name == "forward" and variant == "transposed"):
                return super()._compile(name, program, arguments)

            def run(dose: Dose, *arguments: Any) -> Any:
                with _current(dose):
                    return program(*arguments)

            key = f"{variant} {name} {self.path} {jax.tree.map(np.shape, arguments)}"
            compiled = sharing.kept(key, lambda: jax.jit(run).lower(dose, *arguments).compile())
            return lambda *arguments: compiled(dose, *arguments)

    derivatives.Programs = Dosed
    with _current(dose):
        try:
            yield
        finally:
            derivatives.Programs = original


@contextmanager
def _current(dose: Dose) -> Iterator[None]:
    global _dose
    before, _dose = _dose, dose
    try:
        yield
    finally:
        _dose = before
