"""What can be asked of a function held at a case? The probe that checks are handed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.errors import GradhookError
from gradhook.judge import Tolerance
from gradhook.model import Mode
from gradhook.numerics import precision, surrogates
from gradhook.numerics.drawing import generator
from gradhook.numerics.faults import translate
from gradhook.numerics.held import Arguments, Held, Wrt, gather, hold
from gradhook.numerics.programs import Clock
from gradhook.numerics.studies import MODES, Laboratory
from gradhook.probe import Contract, Fault, Known, Label, Refusal, Study


@dataclass(frozen=True)
class Situation:
    """A case as the checker has understood it: arguments, and what the author says about them."""

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None
    derivative: Any = None
    tangent: Any = None
    kink: str | float | None = None
    error: type[BaseException] | tuple[type[BaseException], ...] | None = None
    match: str | None = None


@dataclass(frozen=True)
class Demands:
    """What a claim asks for in every case."""

    order: int = 1
    modes: tuple[Mode, ...] | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    step: float | None = None
    wrt: Wrt = None
    exact: Callable[..., Any] | None = None
    forward: Callable[..., Any] | None = None
    derivative_of: Callable[..., Any] | None = None
    rule: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Instruments:
    """The probe: a function held at a situation; everything is computed when first asked for, and once."""

    function: Callable[..., Any]
    situation: Situation
    demands: Demands
    seed: str
    clock: Clock

    @property
    def case(self) -> str:
        """The name of the case."""
        return self.situation.name

    @property
    def order(self) -> int:
        """Up to which order derivatives are claimed."""
        return self.demands.order

    @property
    def modes(self) -> tuple[Mode, ...] | None:
        """The modes that the author claims; None: those that the function has."""
        return self.demands.modes

    @property
    def tolerance(self) -> Tolerance:
        """For each element."""
        return self.demands.tolerance

    @property
    def kink(self) -> str | float | None:
        """The declared convention at non-smooth points."""
        return self.situation.kink

    @cached_property
    def arguments(self) -> Arguments:
        """The arguments, drawn and promoted to float64."""
        random = generator(self.seed, "draw")
        return gather(self.function, self.situation.args, self.situation.kwargs, self.demands.wrt, random)

    @cached_property
    def held(self) -> Held:
        """The function as a map from R^n to R^m."""
        held = hold(self.function, self.arguments)
        if not held.outputs.leaves:
            raise GradhookError(
                "the function returns no floating number, so there is nothing to differentiate",
                "return an array or a float; integers and booleans have no derivative",
            )
        return held

    @cached_property
    def laboratory(self) -> Laboratory:
        """Where the function is measured."""
        modes = self.demands.modes or MODES
        return Laboratory(self.held, self.seed, modes, self.demands.tolerance, self.demands.step, self.clock)

    def study(self, path: tuple[Mode, ...] = ()) -> Study | Fault:
        """The function (empty path) or the derivative reached by a path of modes."""
        return self.laboratory.study(path)

    def known(self) -> Known:
        """What the author gave independently, flattened."""
        args, kwargs = self.arguments.rebuild(self.arguments.space.split(jnp.asarray(self.arguments.point)))
        derivative = self.situation.derivative
        if derivative is None and self.demands.exact is not None:
            derivative = self.demands.exact(*args, **kwargs)
        value = self.situation.value
        return Known(
            None if value is None else _vector(value, self.held.outputs.size, "value="),
            None if derivative is None else _jacobian(derivative, self.held),
        )

    def gradient_dtypes(self) -> list[tuple[Label, str, str]]:
        """For each differentiated leaf, its dtype and that of its gradient (where reverse mode exists)."""
        if not self.held.traceable or "rev" not in (self.demands.modes or MODES):
            return []
        try:
            return _gradient_dtypes(self.function, self.arguments)
        except Exception:  # GRD102 reports what reverse mode raises
            return []

    def narrowings(self) -> list[precision.Narrowing]:
        """Equations that narrow a float below 64 bits: what, file, line."""
        return self._narrowings

    @cached_property
    def _narrowings(self) -> list[precision.Narrowing]:
        return precision.narrowings(self.held)

    def refusal(self) -> Refusal | None:
        """What happens to an input that must be refused."""
        return _refusal(self.function, self) if self.situation.error is not None else None

    def contract(self) -> Contract | None:
        """What a surrogate is held to, beside what it does."""
        return self._contract

    @cached_property
    def _contract(self) -> Contract | None:
        d = self.demands
        if d.forward is None and d.derivative_of is None and d.rule is None and self.situation.tangent is None:
            return None
        declared = surrogates.Declared(d.forward, d.derivative_of, d.rule, self.situation.tangent)
        return surrogates.contract(self.held, declared, self.seed, d.modes or MODES, self.clock)


def _gradient_dtypes(function: Callable[..., Any], arguments: Arguments) -> list[tuple[Label, str, str]]:
    def gradients(moved: list[Any]) -> Any:
        def call(moved: list[Any]) -> list[Any]:
            args, kwargs = arguments.rebuild(moved)
            leaves = jax.tree.leaves(function(*args, **kwargs))
            return [leaf for leaf in leaves if jnp.issubdtype(jnp.asarray(leaf).dtype, jnp.inexact)]

        value, pull = jax.vjp(call, moved)
        return pull(value)[0]

    moved = [arguments.leaves[place] for place in arguments.moved]
    given = jax.eval_shape(gradients, moved)
    names = [Label(leaf.name) for leaf in arguments.space.leaves]
    return [(n, str(m.dtype), str(g.dtype)) for n, m, g in zip(names, moved, given, strict=True)]


def _vector(value: Any, size: int, what: str) -> Any:
    """Given numbers as one vector of the outputs' size; a scalar stands for every element."""
    parts = [np.asarray(leaf) for leaf in jax.tree.leaves(value)]
    flat = np.concatenate(
        [np.concatenate([p.real.ravel(), p.imag.ravel()] if np.iscomplexobj(p) else [p.ravel()]) for p in parts]
    )
    flat = np.broadcast_to(flat, (size,)) if flat.size == 1 else flat
    if flat.size != size:
        raise GradhookError(
            f"{what} holds {flat.size} numbers, the function returns {size}", "give one number for each"
        )
    return flat.astype(np.float64)


def _jacobian(derivative: Any, held: Held) -> Any:
    """A given gradient or Jacobian as one matrix (m, n): leaves in the order outputs, then inputs."""
    leaves = [np.asarray(leaf, dtype=np.float64) for leaf in jax.tree.leaves(derivative)]
    outs, ins = held.outputs.leaves, held.inputs.leaves
    shapes = [(o.size, i.size) for o in outs for i in ins]
    if len(leaves) != len(shapes) or any(leaf.size != a * b for leaf, (a, b) in zip(leaves, shapes, strict=True)):
        wanted = ", ".join(str((*o.shape, *i.shape)) for o in outs for i in ins)
        got = ", ".join(str(leaf.shape) for leaf in leaves)
        raise GradhookError(
            f"the given derivative has the shapes {got}; expected {wanted}",
            "give one array for each pair of output and differentiated argument: output's shape, then argument's",
        )
    blocks = [leaf.reshape(shape) for leaf, shape in zip(leaves, shapes, strict=True)]
    rows = [np.concatenate(blocks[k : k + len(ins)], axis=1) for k in range(0, len(blocks), len(ins))]
    return np.concatenate(rows, axis=0)


def _refusal(function: Callable[..., Any], probe: Instruments) -> Refusal:
    situation, error = probe.situation, probe.situation.error
    assert error is not None
    names = "/".join(e.__name__ for e in (error if isinstance(error, tuple) else (error,)))
    routes: dict[str, str] = {}
    accepted: dict[str, bool] = {}
    for route, call in _routes(function, probe).items():
        try:
            call()
            routes[route], accepted[route] = "", False
        except Exception as raised:
            fits = isinstance(raised, error) and re.search(situation.match or "", str(raised)) is not None
            routes[route], accepted[route] = translate(raised).message, fits
    expected = names + (f" matching {situation.match!r}" if situation.match else "")
    return Refusal(expected, routes, accepted)


def _routes(function: Callable[..., Any], probe: Instruments) -> dict[str, Callable[[], Any]]:
    """The ways on which a bad input must be refused alike."""
    arguments = probe.arguments
    moved = [arguments.leaves[place] for place in arguments.moved]

    def call(moved: list[Any]) -> Any:
        args, kwargs = arguments.rebuild(moved)
        return function(*args, **kwargs)

    routes: dict[str, Callable[[], Any]] = {"called plainly": lambda: call(moved)}
    modes = probe.demands.modes or MODES
    if "fwd" in modes:
        routes["under forward mode"] = lambda: jax.jvp(call, (moved,), (moved,))
    if "rev" in modes:
        routes["under reverse mode"] = lambda: jax.vjp(call, moved)
    return routes
