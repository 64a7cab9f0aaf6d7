"""Compile the programs of a comparison, and measure the time that they take.

A check runs its programs once, on little data: optimizing their machine code costs more than it saves. Only the effort
changes, not what is computed: ``benchmarks/verdicts.py`` scans the public functions of JAX with these options.

Three programs for each function of vectors: its values along lines, its forward-mode and its reverse-mode derivatives;
those of a small function come from one fused program.
Points and directions are walked with ``jax.lax.map``: one copy of the function in each program, and no batching rule of
the user's involved. Functions that cannot be traced (Python control flow on values) are walked eagerly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.model.results import Mode
from gradhook.numerics.finite_difference.richardson import Array

QUICK = 2**16
"""Up to so many numbers in one argument, running unoptimized code costs less than optimizing it."""
_SPARING: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_parallel_codegen_split_count": 1,
    # Gone in JAX 0.12; before, the older emitters need a third of the time of the newer ones.
    "xla_cpu_use_fusion_emitters": False,
}
_THOROUGH: dict[str, Any] = {"xla_backend_optimization_level": 3, "xla_llvm_disable_expensive_passes": False}
"""What JAX's switch takes away."""
_SWITCH = "jax_disable_most_optimizations"


def compiled(program: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The program, compiled for arguments like these."""
    return jax.jit(program).lower(*arguments).compile(compiler_options=_options(arguments))


def _options(arguments: Any) -> dict[str, Any]:
    if not is_large(arguments):
        return _known()
    settings: Any = jax.config
    return _THOROUGH if settings.read(_SWITCH) else {}


@contextmanager
def sparing(size: int = 0) -> Iterator[None]:
    """Operations that run one by one, each of which is a program, are compiled as sparingly; not on large arrays."""
    settings: Any = jax.config
    before = settings.read(_SWITCH)
    settings.update(_SWITCH, before or (size <= QUICK and jax.default_backend() == "cpu"))
    try:
        yield
    finally:
        settings.update(_SWITCH, before)


def is_large(arguments: Any) -> bool:
    """Whether running a program on these arguments costs more than compiling it."""
    return any(getattr(leaf, "size", 1) > QUICK for leaf in jax.tree.leaves(arguments))


@cache
def _known() -> dict[str, Any]:
    """The options that the installed jaxlib has; none on an accelerator, where others count."""
    if jax.default_backend() != "cpu":
        return {}
    return {name: value for name, value in _SPARING.items() if _is_known(name, value)}


def _is_known(name: str, value: Any) -> bool:
    try:
        jax.jit(lambda: 0).lower().compile(compiler_options={name: value})
    except jax.errors.JaxRuntimeError:
        return False
    return True


Function = Callable[[Any], Any]
UNTRACEABLE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.TracerBoolConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)


@dataclass
class Clock:
    """Seconds spent on tracing and compiling, and on running."""

    compile: float = 0.0
    run: float = 0.0


def timed(clock: Clock, program: Callable[..., Any], *arguments: Any) -> Array:
    """Compile a program for its arguments, run it once, and book the time."""
    started = time.perf_counter()
    run = compiled(program, arguments)
    ready = time.perf_counter()
    result = np.asarray(run(*arguments), dtype=np.float64)
    clock.compile += ready - started
    clock.run += time.perf_counter() - ready
    return result


def derivative(function: Function, path: tuple[Mode, ...], seeds: tuple[Any, ...]) -> Function:
    """The derivative of ``function`` reached by a path of modes, each with its tangent or cotangent."""
    for mode, seed in zip(path, seeds, strict=True):
        function = (_along if mode == "fwd" else _pulled)(function, seed)
    return function


def _along(function: Function, tangent: Any) -> Function:
    return lambda x: jax.jvp(function, (x,), (tangent,))[1]


def _pulled(function: Function, cotangent: Any) -> Function:
    return lambda x: jax.vjp(function, x)[1](cotangent)[0]


def moved(x: Any, t: Any, vector: Any) -> Any:
    """The point moved by ``t`` along a direction; unmoved coordinates stay the same, also for t = nan."""
    return x + jnp.where(vector == 0, 0.0, t * vector)


class SharedProgram(Protocol):
    """A program that computes several results of the same function."""

    def answer(
        self, name: str, path: tuple[Mode, ...], x: Array, vectors: Array, t: Array, operands: tuple[Any, ...]
    ) -> Array | None:
        """The result of the program ``name``; None if it has to run alone."""


@dataclass
class Programs:
    """The programs of one function at one path; compiled when first run, then kept.

    Some functions take ``operands`` first, large arrays that a program must not hold as constants. ``t`` are the
    abscissae (D, T) of the values, with which a fused program computes derivatives in one go.
    """

    function: Callable[..., Any]
    path: tuple[Mode, ...]
    clock: Clock
    traceable: bool = True
    fused: SharedProgram | None = None
    _compiled: dict[str, Any] = field(default_factory=dict)

    def values(
        self, x: Array, seeds: tuple[Array, ...], vectors: Array, t: Array, operands: tuple[Any, ...] = ()
    ) -> Array:
        """Values (D, T, m) at ``x + t v`` for directions (D, n) and abscissae (D, T)."""
        flat = self._from_fused("values", x, vectors, t, operands)
        if flat is None:
            flat = self._values(x, seeds, vectors, t, operands)
        return np.asarray(flat.reshape(*t.shape, -1), dtype=np.float64)

    def _values(self, x: Array, seeds: tuple[Array, ...], vectors: Array, t: Array, operands: tuple[Any, ...]) -> Array:

        def program(operands: Any, x: Any, seeds: Any, vectors: Any, t: Any) -> Any:
            h = derivative(self._held(operands), self.path, seeds)
            return self._map(lambda pair: h(moved(x, pair[1], vectors[pair[0]])), t)

        which = np.repeat(np.arange(len(vectors)), t.shape[1])
        return self._run("values", program, operands, x, seeds, vectors, (which, t.ravel()))

    def forward(
        self,
        x: Array,
        seeds: tuple[Array, ...],
        vectors: Array,
        operands: tuple[Any, ...] = (),
        t: Array | None = None,
    ) -> Array:
        """Forward-mode derivatives (D, m) along directions (D, n)."""
        if (found := self._from_fused("forward", x, vectors, t, operands)) is not None:
            return found

        def program(operands: Any, x: Any, seeds: Any, vectors: Any) -> Any:
            h = derivative(self._held(operands), self.path, seeds)
            return self._map(lambda v: jax.jvp(h, (x,), (v,))[1], vectors)

        return self._run("forward", program, operands, x, seeds, vectors)

    def reverse(
        self,
        x: Array,
        seeds: tuple[Array, ...],
        cotangents: Array,
        operands: tuple[Any, ...] = (),
        vectors: Array | None = None,
        t: Array | None = None,
    ) -> Array:
        """Reverse-mode derivatives (r, n) for cotangents (r, m)."""
        if vectors is not None and (found := self._from_fused("reverse", x, vectors, t, operands)) is not None:
            return found

        def program(operands: Any, x: Any, seeds: Any, cotangents: Any) -> Any:
            h = derivative(self._held(operands), self.path, seeds)
            pull = jax.vjp(h, x)[1]
            return self._map(lambda w: pull(w)[0], cotangents)

        return self._run("reverse", program, operands, x, seeds, cotangents)

    def _from_fused(
        self, name: str, x: Array, vectors: Array, t: Array | None, operands: tuple[Any, ...]
    ) -> Array | None:
        if self.fused is None or t is None:
            return None
        return self.fused.answer(name, self.path, x, vectors, t, operands)

    def _held(self, operands: Any) -> Function:
        return (lambda x: self.function(operands, x)) if operands else self.function

    def _map(self, function: Function, rows: Any) -> Any:
        if self.traceable:
            return jax.lax.map(function, rows)
        count = len(jax.tree.leaves(rows)[0])
        return jnp.stack([function(jax.tree.map(lambda row, i=i: row[i], rows)) for i in range(count)])

    def _run(self, name: str, program: Callable[..., Any], *arguments: Any) -> Array:
        started = time.perf_counter()
        run = self._compile(name, program, arguments)
        ready = time.perf_counter()
        result = np.asarray(run(*arguments), dtype=np.float64)
        self.clock.compile += ready - started
        self.clock.run += time.perf_counter() - ready
        return result

    def _compile(self, name: str, program: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
        if not self.traceable:
            return program
        shapes = str(jax.tree.map(np.shape, arguments))
        key = name + shapes
        if key not in self._compiled:
            self._compiled[key] = compiled(program, arguments)
        run: Callable[..., Any] = self._compiled[key]
        return run
