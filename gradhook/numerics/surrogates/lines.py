"""What are value, derivative and what was declared for them, while one input moves and everything else is held?"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from gradhook.model import Mode
from gradhook.numerics.differences import Array
from gradhook.numerics.held import Held
from gradhook.numerics.programs import Clock
from gradhook.numerics.surrogates.declared import Declared, eager_forward, forward_map, slope_map, slopes

COUNT = 256
"""Points of one run: one program serves the samples, the bisection and the neighbours of a boundary."""


@dataclass(frozen=True)
class Points:
    """At T points of a track: all values (T, m), one output's slope (T,), and the declared ones (nan: none)."""

    at: Array
    values: Array
    slope: Array
    reference: Array
    declared: Array


@dataclass
class Line:
    """A held function along any one of its coordinates."""

    held: Held
    declared: Declared
    mode: Mode
    clock: Clock
    _program: list[Any] = field(default_factory=list)

    def run(self, coordinate: int, at: Array, outputs: NDArray[np.int64], spoken: bool) -> Points:
        """Up to COUNT points; ``outputs`` (T,) says whose slope is meant at each."""
        started = time.perf_counter()
        padded = np.resize(at, COUNT), np.resize(outputs, COUNT)
        if not self._program:
            run = jax.jit(self._traced()).lower(self.held.point, coordinate, *padded).compile()
            self._program.append(run)
        ready = time.perf_counter()
        found = self._program[0](self.held.point, coordinate, *padded)
        values, slope, reference, declared = (np.asarray(a, dtype=np.float64)[: len(at)] for a in found)
        self.clock.compile += ready - started
        self.clock.run += time.perf_counter() - ready
        return Points(at, values, slope, reference, declared if spoken else np.full(len(at), np.nan))

    def filled(self, coordinate: int, points: Points, outputs: NDArray[np.int64], spoken: bool) -> Points:
        """The same with what was declared in Python that JAX cannot trace; slow, so for few points only."""
        reference, declared = points.reference, points.declared
        xs = np.repeat(self.held.point[None], len(points.at), axis=0)
        xs[:, coordinate] = points.at
        if self.declared.forward is not None and np.isnan(reference).all() and len(xs):
            reference = np.stack([eager_forward(self.held, self.declared, x) for x in xs])
        if spoken and np.isnan(declared).all() and len(xs):
            along = slopes(self.held, self.declared, xs, np.eye(self.held.inputs.size)[[coordinate]])[:, 0]
            declared = along[np.arange(len(xs)), outputs]
        return Points(points.at, points.values, points.slope, reference, declared)

    def _traced(self) -> Any:
        f, n, m = self.held.call, self.held.inputs.size, self.held.outputs.size
        forward, slope = forward_map(self.held, self.declared), slope_map(self.held, self.declared)

        def one(x: Any, coordinate: Any, at: Any, output: Any) -> Any:
            x, axis = x.at[coordinate].set(at), jnp.zeros(n).at[coordinate].set(1.0)
            if self.mode == "fwd":
                value, tangent = jax.jvp(f, (x,), (axis,))
                moved = tangent[output]
            else:
                value, pull = jax.vjp(f, x)
                moved = pull(jnp.zeros(m).at[output].set(1.0))[0][coordinate]
            reference = jnp.full(m, jnp.nan) if forward is None else forward(x)
            declared = jnp.nan if slope is None else slope(x, axis)[output]
            return value, moved, reference, jnp.asarray(declared, jnp.float64)

        def program(x: Any, coordinate: Any, at: Any, outputs: Any) -> Any:
            return jax.lax.map(lambda pair: one(x, coordinate, *pair), (at, outputs))

        return program
