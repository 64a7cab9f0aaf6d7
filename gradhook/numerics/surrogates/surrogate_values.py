"""The value of a surrogate on every route and its derivative in every mode, beside the declared ones.

Called plainly, a function is run operation by operation, each a program of its own. The other routes are compiled
together; where one of them does not return, to the last bit, what the plain call does, it is run plainly too.

Finite differences of the function play no part here: they prove nothing about a derivative that differs on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook.comparison.agreement import differ, same_bits
from gradhook.comparison.judge import SURROGATE
from gradhook.comparison.probe import DerivativeError, Label
from gradhook.comparison.surrogate_probe import SurrogateValues
from gradhook.model.errors import GradhookError
from gradhook.model.results import Mode
from gradhook.numerics.autodiff import rounding
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.autodiff.fused import together
from gradhook.numerics.autodiff.programs import UNTRACEABLE, Clock, compiled
from gradhook.numerics.finite_difference.richardson import Array, Flags
from gradhook.numerics.flatten import leaf_of
from gradhook.numerics.function import FlatFunction
from gradhook.numerics.jaxpr import traverse
from gradhook.numerics.surrogates.declaration import Declaration, declared_derivatives, derivative_map, numbers, outputs
from gradhook.numerics.surrogates.linearity import LinearityProgram

Call = Callable[[Any], list[Any]]
"""From a vector to all outputs, integers and booleans included."""
Way = Callable[[Any], tuple[list[Any], list[Any]]]
"""Through a transformation: the outputs, and derivatives."""
Values = dict[str, Array | DerivativeError]
PLAIN, COMPILED, REFERENCE = "called plainly", "under jit", "forward="


def routes(
    held: FlatFunction,
    function: Callable[..., Any],
    forward: Callable[..., Any] | None,
    modes: tuple[Mode, ...],
    clock: Clock,
) -> tuple[Values, tuple[Label, ...], tuple[Array, ...]]:
    """The value as every transformation returns it, the names of its numbers, and the values of ``forward=``."""
    x, call = jnp.asarray(held.point), _call(held, function)
    plain = call(x)
    value = _flat(plain)
    together = _compiled(held, call, forward, modes, clock) if held.traceable else {}
    found: Values = {PLAIN: value}
    for name, way in _ways(call, modes).items():
        known = together.get(name)
        found[name] = known if known is not None and _is(known, value) else _asked(name, way, x)
    names = [leaf_of("out" if len(plain) == 1 else f"out[{k}]", leaf) for k, leaf in enumerate(plain)]
    whole = held.outputs.labels() if len(plain) == len(held.outputs.leaves) else ()
    labels = whole or tuple(label for leaf in names for label in leaf.labels())
    return found, labels, _references(held, forward, value, together.get(REFERENCE))


def _is(got: Array | DerivativeError, value: Array) -> bool:
    return isinstance(got, np.ndarray) and got.shape == value.shape and bool(same_bits(got, value).all())


def _call(held: FlatFunction, function: Callable[..., Any]) -> Call:
    return lambda x: [jnp.asarray(leaf) for leaf in outputs(held, function, x)]


def _ways(call: Call, modes: tuple[Mode, ...]) -> dict[str, Way]:
    """The same outputs through every transformation, and derivatives where they are computed with them."""
    ways: dict[str, Way] = {
        COMPILED: lambda x: (call(x), []),
        "under vmap": lambda x: ([leaf[0] for leaf in jax.vmap(call)(x[None])], []),
    }
    if "fwd" in modes:
        ways["under jvp"] = lambda x: _pushed(call, x)
    if "rev" in modes:
        ways["under vjp"] = lambda x: (jax.vjp(call, x)[0], [])
        ways["under value_and_grad"] = lambda x: _graded(call, x)
    return ways


def _pushed(call: Call, x: Any) -> tuple[list[Any], list[Any]]:
    values, tangents = jax.jvp(call, (x,), (jnp.ones_like(x),))
    return values, [tangent for tangent in tangents if tangent.dtype != jax.dtypes.float0]


def _graded(call: Call, x: Any) -> tuple[list[Any], list[Any]]:
    (_, values), gradient = jax.value_and_grad(_scored(call), has_aux=True)(x)
    return values, [gradient]


def _asked(name: str, way: Way, x: Any) -> Array | DerivativeError:
    try:
        return _flat(compiled(lambda x: way(x)[0], (x,))(x) if name == COMPILED else way(x)[0])
    except Exception as error:
        return _refused(error)


def _compiled(
    held: FlatFunction, call: Call, forward: Callable[..., Any] | None, modes: tuple[Mode, ...], clock: Clock
) -> Values:
    """Every route and ``forward=`` in one program."""
    x = jnp.asarray(held.point)
    try:
        run = traverse.function_of(jax.make_jaxpr(call)(x))
    except Exception:  # told when the route is asked
        return {}
    ways = _ways(run, modes)
    if forward is not None:
        ways[REFERENCE] = lambda x: (_call(held, forward)(x), [])
    asked = {name: _joined(way) for name, way in ways.items()}
    count = sum(2 * leaf.size if jnp.iscomplexobj(leaf) else leaf.size for leaf in jax.eval_shape(run, x))
    answers = together(asked, (x,), clock)
    return {name: answer if isinstance(answer, DerivativeError) else answer[:count] for name, answer in answers.items()}


def _joined(way: Way) -> Callable[[Any], Any]:
    """Values and derivatives in one row, so that no unread output is left out of the program and fails to raise."""
    return lambda x: jnp.concatenate([real_parts(leaf) for leaf in jax.tree.leaves(way(x))])


def _scored(call: Call) -> Callable[[Any], tuple[Any, list[Any]]]:
    def score(x: Any) -> tuple[Any, list[Any]]:
        leaves = call(x)
        floats = [jnp.real(leaf).sum() for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.inexact)]
        return sum(floats).astype(x.dtype), leaves  # type: ignore[union-attr]

    return score


def _refused(error: Exception) -> DerivativeError:
    fault = classify(error)
    by_design = fault.missing or isinstance(error, UNTRACEABLE)
    return DerivativeError(by_design, fault.message, fault.path, fault.line)


def real_parts(leaf: Any) -> Any:
    """The numbers of an output as float64 in one row (traceable); of a complex one real parts, then imaginary ones."""
    flat = jnp.ravel(jnp.asarray(leaf))
    parts = [flat.real, flat.imag] if jnp.iscomplexobj(flat) else [flat]
    return jnp.concatenate(parts).astype(jnp.float64)


def _flat(leaves: list[Any]) -> Array:
    parts = [np.asarray(leaf) for leaf in leaves]
    flat = [np.concatenate([p.real.ravel(), p.imag.ravel()] if np.iscomplexobj(p) else [p.ravel()]) for p in parts]
    return np.concatenate([part.astype(np.float64) for part in flat])


def _references(
    held: FlatFunction, forward: Callable[..., Any] | None, value: Array, known: Array | DerivativeError | None
) -> tuple[Array, ...]:
    """The result of ``forward=``, plain and compiled: a compiler may fuse a product with a sum.

    Raises:
        GradhookError: it returns another count of numbers than the function.
    """
    if forward is None:
        return ()
    call, x = _call(held, forward), jnp.asarray(held.point)
    found = [_flat(call(x))]
    try:
        alike = isinstance(known, np.ndarray) and _is(known, found[0])
        found.append(found[0] if alike else _flat(compiled(call, (x,))(x)))
    except UNTRACEABLE:
        pass  # a reference in numpy is as good
    if found[0].shape != value.shape:
        text = f"forward= returns {found[0].size} numbers, the function {value.size}"
        raise GradhookError(text, "they must return arrays of the same shapes")
    return tuple(found)


AMBIGUOUS = 1e-6
"""Two sides of a point whose declared derivatives differ by more than this part have a kink between them."""


def surrogate_values(
    held: FlatFunction,
    function: Callable[..., Any],
    declared: Declaration,
    linearity_program: LinearityProgram,
    modes: tuple[Mode, ...],
    surrogate_in: Flags,
) -> SurrogateValues:
    """Run a surrogate on every route and evaluate what was declared for it.

    ``surrogate_in`` (n,) marks the coordinates that the declaration covers; the others are claimed exact.
    """
    vectors, labels = linearity_program.rows
    is_declared = np.array([bool(surrogate_in[v != 0].all()) for v in vectors], dtype=bool)
    wanted, allowed = _conventions(held, declared, vectors, labels)
    wanted, allowed = np.where(is_declared[:, None], wanted, np.nan), np.where(is_declared[:, None], allowed, np.nan)
    claims = {mode: linearity_program.claim(mode) for mode in modes}
    if declared.tangent is not None:
        ones = np.ones((1, held.inputs.size))
        vectors, labels = np.concatenate([vectors, ones]), (*labels, Label("a tangent of ones"))
        given = numbers(declared.tangent, held.outputs.size)[None]
        wanted = np.concatenate([wanted, given])
        allowed = np.concatenate([allowed, np.broadcast_to(given, (len(allowed), *given.shape))], axis=1)
        claims = {mode: _with_ones(claim, held, mode, linearity_program) for mode, claim in claims.items()}
    values, value_labels, references = routes(held, function, declared.forward, modes, linearity_program.clock)
    made = SurrogateValues(
        references,
        values,
        value_labels,
        wanted,
        allowed,
        linearity_program.weights,
        claims,
        vectors,
        labels,
        held.outputs.labels(),
    )
    of_modes = {mode: _rounding(held, declared, linearity_program, made, mode) for mode in modes}
    return replace(made, rounding=of_modes, value_rounding=_value_rounding(held, function, made))


def _rounding(
    held: FlatFunction, declared: Declaration, linearity_program: LinearityProgram, made: SurrogateValues, mode: Mode
) -> Array:
    """The rounding of a derivative and the declared one; computed only where it may decide."""
    claim = made.autodiff[mode]
    if isinstance(claim, DerivativeError) or made.as_declared(mode, claim).all():
        return np.zeros(1)
    slope = derivative_map(held, declared)
    own = np.zeros(1)
    if slope is not None:
        own = rounding.of(lambda x, rows: jax.lax.map(lambda v: slope(x, v), rows), held.point, made.directions)
    if mode == "rev" and len(made.weights):
        terms = np.nan_to_num(np.abs(made.declared)) @ np.abs(made.weights).T
        own = (own + np.zeros_like(made.declared)) @ np.abs(made.weights).T + rounding.SAFETY * rounding.EPS * terms
    return np.asarray(own + linearity_program.rounding(mode, made.directions))


def _value_rounding(held: FlatFunction, function: Callable[..., Any], made: SurrogateValues) -> Array | float:
    values = [value for value in made.values.values() if not isinstance(value, DerivativeError)]
    if not any(differ(value, one, SURROGATE).any() for value in values for one in made.references):
        return 0.0
    return rounding.of(lambda x: jnp.concatenate([real_parts(leaf) for leaf in outputs(held, function, x)]), held.point)


def _conventions(
    held: FlatFunction, declared: Declaration, vectors: Array, labels: tuple[Label, ...]
) -> tuple[Array, Array]:
    """The declared derivative (D, m), and what is as good at a kink of ``derivative_of=`` (K, D, m).

    On a bound of ``jnp.clip`` JAX's own derivative is neither the inner nor the outer one. ``bounds=`` selects
    one; without it, either is accepted.
    """
    x = held.point
    if declared.derivative_of is None:
        (only,) = declared_derivatives(held, declared, x[None], vectors)
        return only, only[None]
    near = np.stack([x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])
    on, below, above = declared_derivatives(held, declared, near, vectors)
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(below), np.abs(above))
        kink = np.abs(below - above) > AMBIGUOUS * size
        inner, outer = np.where(np.abs(below) >= np.abs(above), (below, above), (above, below))
    everything = np.array([label.moves_many for label in labels], dtype=bool)[:, None]
    on = np.where(kink & everything, np.nan, on)
    if declared.bounds is not None:
        on = np.where(kink & ~everything, inner if declared.bounds == "closed" else outer, on)
        return on, on[None]
    return on, np.stack([on, np.where(kink, below, on), np.where(kink, above, on)])


def _with_ones(
    claim: Array | DerivativeError, held: FlatFunction, mode: Mode, linearity_program: LinearityProgram
) -> Array | DerivativeError:
    """A claim with one row more: for a tangent of ones, the sum over the coordinates."""
    if isinstance(claim, DerivativeError):
        return claim
    axes = np.array([not label.moves_many for label in linearity_program.rows[1]], dtype=bool)
    if axes.sum() == held.inputs.size:
        return np.concatenate([claim, claim[axes].sum(axis=0, keepdims=True)])
    x, ones = jnp.asarray(held.point), jnp.ones(held.inputs.size)
    if mode == "fwd":
        row = jax.jvp(held.call, (x,), (ones,))[1]
    else:
        pull = jax.vjp(held.call, x)[1]
        row = jnp.stack([pull(jnp.asarray(w))[0].sum() for w in linearity_program.cotangents])
    return np.concatenate([claim, np.asarray(row)[None]])
