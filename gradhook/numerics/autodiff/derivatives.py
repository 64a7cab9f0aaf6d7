"""Finite differences of a function and its derivatives by each mode of JAX, along the same directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import Any

import jax
import numpy as np

from gradhook.comparison.judge import Measurement, Tolerance
from gradhook.comparison.probe import DerivativeComparison, DerivativeError, Label, Pullbacks
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import derivative_errors
from gradhook.numerics.autodiff.fused import FusedProgram, Transform
from gradhook.numerics.autodiff.programs import QUICK, Clock, Programs, timed
from gradhook.numerics.finite_difference import adaptive, directions
from gradhook.numerics.finite_difference.projection import Projection, at_point, perturbed, project
from gradhook.numerics.finite_difference.richardson import Array, StepTable
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr.flows import Dependence, dependence
from gradhook.numerics.sampling import generator

MODES: tuple[Mode, ...] = ("fwd", "rev")
ROUNDINGS = 4
"""A claim may be off by so many times what it moves under a few units in the last place of its point."""
BALANCED_MOST = 2**22
"""Inputs up to which a direction is balanced by the gradient, which takes two more arrays of their size."""
SIZES = (0.6, -4.1e3)
"""Sizes of the further cotangents that are pulled back: a rule may clip, normalize or lose the sign of a cotangent."""


@dataclass
class Differentiator:
    """A function with its directions, seeds and tolerances; comparisons are kept."""

    held: FlatFunction
    seed: str
    modes: tuple[Mode, ...]
    tolerance: Tolerance
    step: float | None
    clock: Clock
    order: int = 1
    keep: bool = False
    """Whether the step table of each comparison is kept, for plots."""
    tables: dict[tuple[Mode, ...], StepTable] = field(default_factory=dict)
    _comparisons: dict[tuple[Mode, ...], DerivativeComparison | DerivativeError] = field(default_factory=dict)
    _shared: dict[tuple[Mode, ...], Programs] = field(default_factory=dict)
    _rounding_sensitivities: dict[tuple[tuple[Mode, ...], Mode], Array] = field(default_factory=dict)

    def comparison(self, path: tuple[Mode, ...] = ()) -> DerivativeComparison | DerivativeError:
        """The comparison of the function, or of the derivative reached by a path of modes.

        What the function itself raises is raised; what one of its derivatives raises is a fault.
        """
        if path not in self._comparisons:
            try:
                self._comparisons[path] = self._make(path)
            except Exception as error:
                if not path:
                    raise
                self._comparisons[path] = derivative_errors.classify(error)
        return self._comparisons[path]

    def computed_comparisons(self) -> tuple[DerivativeComparison, ...]:
        """The comparisons that have been computed so far."""
        return tuple(
            comparison for comparison in self._comparisons.values() if not isinstance(comparison, DerivativeError)
        )

    @cached_property
    def projection(self) -> Projection:
        """The projection that all orders and modes share, so that they can be compared."""
        return project(self.held, self.held.call, self.seed, self._gradient)

    @cached_property
    def _gradient(self) -> Array | None:
        """The gradient (n,) of a combination of the outputs of a large function; None without reverse mode."""
        size = self.held.inputs.size
        if not directions.FULL < size <= BALANCED_MOST or "rev" not in self.modes or not self.held.traceable:
            return None
        weights = directions.combination(self.held.outputs.size, generator(self.seed, "balance"))
        try:
            return timed(self.clock, lambda x, w: jax.vjp(self.held.call, x)[1](w)[0], self.held.point, weights)
        except Exception:  # the comparison of reverse mode runs it again and reports the error
            return None

    @cached_property
    def dependence(self) -> Dependence:
        """The floating data flow from input leaves to output leaves."""
        return dependence(self.held)

    def directional(self, jacobian: Array) -> tuple[Array, Array]:
        """A Jacobian (m, n) along the directions of every comparison, projected: (D, columns).

        Then the size of the terms that each number sums.
        """
        vectors = [self.projection.direction(row) for row in range(len(self.projection.directions.vectors))]
        along = np.stack([self.projection.project_outputs(jacobian @ vector) for vector in vectors])
        return along, np.abs([self.projection.project_outputs(np.abs(jacobian) @ np.abs(vector)) for vector in vectors])

    def with_projection(self, other: Projection) -> Differentiator:
        """The same function under another projection; programs are shared."""
        made = replace(self, _comparisons={}, _rounding_sensitivities={}, keep=False)
        made.__dict__.update(projection=other, _fused=self._fused)
        return made

    def beside(self, point: Array) -> Differentiator | None:
        """The same function at another point; programs are shared. None where they run too long."""
        held = self.held.at(point)
        made = replace(self, held=held, keep=False, tables={}, _comparisons={}, _rounding_sensitivities={})
        made.__dict__.update(projection=at_point(self.projection, held, self.seed), _fused=self._fused)
        return made if self._fused is None or made._visits(self._fused) else None

    def _visits(self, fused: FusedProgram) -> bool:
        t = adaptive.abscissae(self.projection.directions.limits)
        parts = self.projection.parts(t)
        return all(fused.visit(self.projection.point, vectors, u, ops) for ops, vectors, u in parts)

    @property
    def is_defined(self) -> bool:
        """Whether every value at the point is finite."""
        t = adaptive.abscissae(self.projection.directions.limits)
        return bool(np.isfinite(self.values((), t)[:, 0]).all())

    def seeds(self, path: tuple[Mode, ...]) -> tuple[tuple[Array, ...], tuple[Label, ...]]:
        """A tangent or cotangent for each step of a path, and the labels of the final outputs."""
        found, outputs = [], self.projection.outputs
        for depth, mode in enumerate(path):
            random = generator(self.seed, "seed", depth, mode)
            if mode == "fwd":
                found.append(self.projection.tangent(random))
            else:
                found.append(directions.combination(len(outputs), random))
                outputs = self.projection.inputs
        return tuple(found), outputs

    def weights(self, path: tuple[Mode, ...], outputs: tuple[Label, ...]) -> Array:
        """The combinations of outputs that reverse mode pulls back; none if each output is pulled back alone."""
        if "rev" in path:
            return directions.weights(len(outputs), generator(self.seed, "weights", *path))
        return self.projection.weights

    def claim(self, call: Callable[[Any], Any], path: tuple[Mode, ...], mode: Mode) -> Array | DerivativeError:
        """The derivative of another function by a mode, along the same directions."""
        other = project(self.held, call, self.seed, self._gradient)
        programs = Programs(other.call, path, self.clock, self.held.traceable)
        return self._claim(programs, mode, *self.claimed(path))

    def _programs(self, path: tuple[Mode, ...]) -> Programs:
        if path not in self._shared:
            self._shared[path] = Programs(self.projection.call, path, self.clock, self.held.traceable, self._fused)
        return self._shared[path]

    @cached_property
    def _fused(self) -> FusedProgram | None:
        """One program for all derivatives of a traceable function of ordinary size."""
        if not self.held.traceable or max(self.held.inputs.size, self.held.outputs.size) > QUICK:
            return None
        paths = [path for depth in range(min(self.order, 2)) for path in product(self.modes, repeat=depth)]
        return FusedProgram(self.projection.call, tuple(map(self._transform, paths)), self.clock)

    def _transform(self, path: tuple[Mode, ...]) -> Transform:
        seeds, cotangents = self._seeds_and_cotangents(path)
        return Transform(path, seeds, cotangents)

    def rounding(self, path: tuple[Mode, ...], mode: Mode) -> Array | float:
        """The rounding of a mode's derivative, (D, columns); 0 where running again would cost too much."""
        if self._fused is None or not self._fused.is_quick:
            return 0.0
        return ROUNDINGS * self.rounding_sensitivity(path, mode)

    def rounding_sensitivity(self, path: tuple[Mode, ...], mode: Mode) -> Array:
        """The change of a mode's derivative when the point moves by a few units in its last place."""
        if (path, mode) not in self._rounding_sensitivities:
            self._rounding_sensitivities[path, mode] = self._rounding_sensitivity(path, mode)
        return self._rounding_sensitivities[path, mode]

    def _rounding_sensitivity(self, path: tuple[Mode, ...], mode: Mode) -> Array:
        comparison = self.comparison(path)
        claim = comparison.autodiff[mode] if not isinstance(comparison, DerivativeError) else comparison
        if isinstance(comparison, DerivativeError) or isinstance(claim, DerivativeError):
            return np.zeros(1)
        moved = [self.with_projection(perturbed(self.projection, units)) for units in (-4, 4)]
        others = [lab._claim(lab._programs(path), mode, *self._seeds_and_cotangents(path)) for lab in moved]
        with np.errstate(all="ignore"):
            gaps = [np.abs(o[:, : claim.shape[1]] - claim) for o in others if not isinstance(o, DerivativeError)]
            return np.asarray(np.nan_to_num(np.max(gaps, axis=0), nan=0.0, posinf=0.0)) if gaps else np.zeros(1)

    def _seeds_and_cotangents(self, path: tuple[Mode, ...]) -> tuple[tuple[Array, ...], Array]:
        """Seeds along a path, then the cotangents at its end: the compared ones and combinations of them."""
        seeds, cotangents = self.claimed(path)
        return seeds, np.concatenate([cotangents, self._mix(path, len(cotangents)) @ cotangents])

    def claimed(self, path: tuple[Mode, ...]) -> tuple[tuple[Array, ...], Array]:
        """Seeds along a path, and the cotangents (r, m) at its end whose pullbacks are compared."""
        seeds, outputs = self.seeds(path)
        weights = self.weights(path, outputs)
        return seeds, weights if len(weights) else np.eye(len(outputs))

    def _mix(self, path: tuple[Mode, ...], count: int) -> Array:
        """Combinations (e, count) of the compared cotangents, which test the linearity of reverse mode."""
        if path or not count:
            return np.zeros((0, count))
        return np.array(SIZES)[:, None] * directions.mixed((len(SIZES), count), generator(self.seed, "mix"))

    def _make(self, path: tuple[Mode, ...]) -> DerivativeComparison:
        chosen = self.projection.directions
        seeds, outputs = self.seeds(path)
        weights = self.weights(path, outputs)
        programs = self._programs(path)
        every = {mode: self._claim(programs, mode, *self._seeds_and_cotangents(path)) for mode in self.modes}
        base = len(weights) or len(outputs)
        claims = {m: c if isinstance(c, DerivativeError) or m == "fwd" else c[:, :base] for m, c in every.items()}
        evaluate = self._evaluation(programs, seeds, weights)
        measured = self._measure(evaluate, claims, weights, len(outputs), self._keeper(path))
        pulled, mix = every.get("rev"), self._mix(path, base)
        pullbacks = Pullbacks(mix, pulled[:, base:]) if isinstance(pulled, np.ndarray) and len(mix) else None
        return DerivativeComparison(
            path, seeds, chosen.vectors, chosen.labels, outputs, weights, measured, claims, pullbacks
        )  # fmt: skip

    def _keeper(self, path: tuple[Mode, ...]) -> Callable[[StepTable], None] | None:
        return partial(self.tables.__setitem__, path) if self.keep else None

    def _evaluation(self, programs: Programs, seeds: tuple[Array, ...], weights: Array) -> Callable[[Array], Array]:
        def evaluate(t: Array) -> Array:
            each = self.projection.parts(t)
            values = np.concatenate([programs.values(self.projection.point, seeds, v, u, ops) for ops, v, u in each])
            with np.errstate(all="ignore"):
                return np.concatenate([values, values @ weights.T], axis=-1) if len(weights) else values

        return evaluate

    def _claim(
        self, programs: Programs, mode: Mode, seeds: tuple[Array, ...], cotangents: Array
    ) -> Array | DerivativeError:
        point, each = (
            self.projection.point,
            self.projection.parts(adaptive.abscissae(self.projection.directions.limits)),
        )
        try:
            if mode == "fwd":
                return np.concatenate([programs.forward(point, seeds, v, ops, t) for ops, v, t in each])
            parts = [(programs.reverse(point, seeds, cotangents, ops, v, t), v) for ops, v, t in each]
        except Exception as error:  # whatever the user's rule raises is an answer, not an accident
            return derivative_errors.classify(error)
        return np.concatenate([along(rows, vectors) for rows, vectors in parts])

    def _measure(
        self,
        evaluate: Callable[[Array], Array],
        claims: dict[Mode, Array | DerivativeError],
        weights: Array,
        outputs: int,
        keep: Callable[[StepTable], None] | None,
    ) -> Measurement:
        reverse = slice(outputs, outputs + len(weights)) if len(weights) else slice(0, outputs)
        columns = {"fwd": slice(0, outputs), "rev": reverse}
        wanted = [(columns[mode], claim) for mode, claim in claims.items() if not isinstance(claim, DerivativeError)]
        limits = self.projection.directions.limits
        return adaptive.measure(
            evaluate, limits, wanted, self.tolerance, self.step, lambda: self.dependence.iterates, keep
        )  # fmt: skip

    def values(self, path: tuple[Mode, ...], t: Array) -> Array:
        """Values (D, T, columns) of the function, or of its derivative at a path, at abscissae ``t`` (D, T)."""
        seeds, outputs = self.seeds(path)
        return self._evaluation(self._programs(path), seeds, self.weights(path, outputs))(t)


def along(rows: Array, vectors: Array) -> Array:
    """Pulled-back rows (r, n) along directions (D, n): (D, r). Unmoved coordinates do not count."""
    with np.errstate(all="ignore"):
        moved = vectors[:, None, :] != 0
        products = np.where(moved, rows[None, :, :] * vectors[:, None, :], 0.0)
    return np.asarray(products.sum(axis=-1))
