"""Which input leaves reach which output leaves by floating numbers, and through which loops and casts."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.comparison.probe import Label
from gradhook.numerics.function import bind_arguments, flatten_function
from gradhook.numerics.jaxpr.flows import Dependence, dependence
from gradhook.numerics.sampling import generator

PAIR = (0.5, 0.75)


def _of(function: Any, *args: Any) -> Dependence:
    return dependence(flatten_function(function, bind_arguments(function, args or PAIR, {}, None, generator("test"))))


def _reaches(function: Any, *args: Any) -> list[list[int]]:
    """For each input, which outputs it reaches."""
    return _of(function, *args).reaches.astype(int).tolist()


def _narrow(x: Any) -> Any:
    return x.astype(jnp.float32).astype(jnp.float64)


def _narrowed(function: Any, *args: Any) -> list[list[int]]:
    """For each input, the outputs to which a path leads through something narrower."""
    found = _of(function, *args)
    return np.sum([np.zeros(found.reaches.shape), *(pairs for _, pairs in found.narrowed)], axis=0).astype(int).tolist()


@jax.custom_jvp
def _product(x: Any, y: Any) -> Any:
    return x * y


_product.defjvps(lambda t, out, x, y: t * y, None)


_narrow_with_a_rule = jax.custom_jvp(_narrow)
_narrow_with_a_rule.defjvps(lambda t, out, x: t)


@jax.custom_vjp
def _sum(x: Any, y: Any) -> Any:
    return x + y


_sum.defvjp(lambda x, y: (x + y, None), lambda _, ct: (ct, ct))


def _scan(x: Any, y: Any) -> Any:
    """``y`` comes into the first carry only after a step."""
    (a, b, c), rows = jax.lax.scan(lambda s, _: ((s[0] + s[1], s[1] * y, s[2]), s[2]), (0.0, 1.0, x), length=3)
    return a, b, c, rows


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x, y: (x, y), [[1, 0], [0, 1]]),
        (lambda x, y: {"a": x * y, "b": jnp.sin(y), "c": 1.0}, [[1, 0, 0], [1, 1, 0]]),
        (lambda x, y: x * jax.lax.stop_gradient(y), [[1], [1]]),
        (lambda x, y: jax.jit(lambda a, b: (b, a))(x, y), [[0, 1], [1, 0]]),
        (jax.vmap(lambda x, y: (x, x * y), in_axes=(None, 0)), None),
        (_product, [[1], [1]]),
        (_sum, [[1], [1]]),
        (jax.checkpoint(lambda x, y: (x, x + y)), [[1, 1], [0, 1]]),
        (_scan, [[0, 0, 1, 1], [1, 1, 0, 0]]),
        (lambda x, y: jax.lax.cond(x > 0, lambda: (y, x), lambda: (0.0, y)), [[0, 1], [1, 1]]),
        (lambda x, y: jax.lax.fori_loop(0, 3, lambda _, s: (s[1], s[1]), (x, y)), [[1, 0], [1, 1]]),
        (lambda x, y: jax.lax.sort((x * jnp.ones(2), y * jnp.ones(2)), num_keys=1), [[1, 0], [0, 1]]),
        (lambda x, y: jax.pure_callback(np.add, jax.ShapeDtypeStruct((), np.float64), x, y), [[1], [1]]),
    ],
)  # fmt: skip
def test_data_flows_through_every_kind_of_equation(function: Any, expected: Any) -> None:
    args = PAIR if expected else (0.5, np.ones(3))
    assert _reaches(function, *args) == (expected or [[1, 1], [0, 1]])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: jnp.where(x > 0, y, 2 * y),
        lambda x, y: jnp.where(jnp.isfinite(x) & (x != 3), y, 0.0),
        lambda x, y: y * x.astype(jnp.int32),
        lambda x, y: y * (x > 0),
        lambda x, y: y * jnp.argmax(jnp.stack([x, 1 - x])),
        lambda x, y: (y * jnp.arange(3.0))[jnp.argsort(x * jnp.arange(3.0))],
        lambda x, y: jax.lax.cond(x > 0, jnp.sin, jnp.cos, y),
        lambda x, y: jax.lax.while_loop(lambda s: s[1] < x, lambda s: (s[0] * 2, s[1] + 1.0), (y, 0.0))[0],
        lambda x, y: y * jnp.asarray([1.0, 2.0, 4.0])[jnp.searchsorted(jnp.arange(2.0), x)],
    ],
)
def test_comparisons_integers_and_choices_carry_nothing(function: Any) -> None:
    assert [bool(row[0]) for row in _reaches(function)] == [False, True]


@pytest.mark.parametrize("function", [jnp.sign, jnp.round, lambda x: jnp.frexp(x)[0], lambda x: jnp.exp2(x)])
def test_what_stays_a_float_or_its_bits_counts(function: Any) -> None:
    assert _reaches(function, 0.7) == [[1]]


def _halve(x: Any) -> Any:
    def step(_: Any, bracket: Any) -> Any:
        low, high = bracket
        middle = (low + high) / 2
        return jnp.where(middle**3 > x, low, middle), jnp.where(middle**3 > x, middle, high)

    return jax.lax.fori_loop(0, 40, step, (0.0, 2.0))[0]


def _halve_unrolled(x: Any) -> Any:
    middle = 1.0
    for k in range(1, 30):
        middle = middle + jnp.where(middle**3 > x, -1, 1) * 2.0**-k
    return middle


@pytest.mark.parametrize("function", [_halve, _halve_unrolled])
def test_a_search_by_comparisons_follows_its_input(function: Any) -> None:
    """No float flows from its input, but its result is no constant."""
    assert _reaches(function, 0.7) == [[1]]


def _root(a: Any) -> Any:
    """The square root, iterated to a tolerance."""
    step = lambda s: (0.5 * (s[0] + a / s[0]), jnp.abs(s[0] * s[0] - a))  # noqa: E731
    return jax.lax.while_loop(lambda s: s[1] > 1e-12, step, (1.0, 1.0))[0]


def _flagged(a: Any) -> Any:
    """The same with a flag in the carry."""
    step = lambda s: (0.5 * (s[0] + a / s[0]), jnp.abs(s[0] * s[0] - a) < 1e-12)  # noqa: E731
    return jax.lax.while_loop(lambda s: ~s[1], step, (1.0, False))[0]


def _carried(a: Any, b: Any) -> Any:
    """``b`` is part of the carry, but stays what it is."""
    step = lambda s: (0.5 * (s[0] + a / s[0]), s[1])  # noqa: E731
    return jax.lax.while_loop(lambda s: jnp.abs(s[0] * s[0] - a) > 1e-12, step, (1.0, b))


def _counted(x: Any) -> Any:
    return jax.lax.while_loop(lambda s: s[1] < 3.5, lambda s: (jnp.sin(s[0]), s[1] + 1.0), (x, 0.0))[0]


def _counted_in_integers(x: Any) -> Any:
    return jax.lax.while_loop(lambda s: s[1] < 3, lambda s: (jnp.sin(s[0]), s[1] + 1), (x, 0))[0]


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda a, b: _root(a) + b, [[1], [0]]),
        (lambda a, b: _flagged(a) + b, [[1], [0]]),
        (lambda a, b: (_root(a), a + b), [[1, 0], [0, 0]]),
        (lambda a, b: jax.jit(_root)(a) * _root(2.0 + b), [[1], [1]]),
        (lambda a, b: jax.vmap(_root)(jnp.stack([a, 2 * a])) + b, [[1], [0]]),
        (_carried, [[1, 0], [0, 0]]),
        (lambda a, b: jax.lax.scan(lambda s, _: (_root(s), None), a, length=2)[0] + b, [[1], [0]]),
        (lambda a, b: _counted(a) + b, [[0], [0]]),
        (lambda a, b: _counted_in_integers(a) + b, [[0], [0]]),
        (lambda a, b: jnp.where(_root(a) > 1, a, b), [[0], [0]]),
        (lambda a, b: jax.scipy.special.gammainc(2.0, a) + b, [[0], [0]]),
        (lambda a, b: jax.scipy.sparse.linalg.cg(lambda v: a * v, jnp.ones(2), tol=1e-5)[0] + b, [[1], [0]]),
    ],
)
def test_paths_through_a_loop_that_stops_at_a_tolerance(function: Any, expected: Any) -> None:
    found = _of(function)
    through = sum((pairs for _, pairs in found.stops), np.zeros(found.reaches.shape, dtype=bool))
    assert through.astype(int).tolist() == expected


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x, y: jnp.where(x.astype(jnp.float32) > 0, x, y), [[0], [0]]),
        (lambda x, y: _narrow(x) + y, [[1], [0]]),
        (lambda x, y: (_narrow(x), x + y), [[1, 0], [0, 0]]),
        (lambda x, y: jnp.where(_narrow(x) > 0, _narrow(y), x), [[0], [1]]),
        (lambda x, y: jax.jit(_narrow)(x) + y, [[1], [0]]),
        (lambda x, y: jax.lax.scan(lambda s, _: (_narrow(s), None), x, length=2)[0] + y, [[1], [0]]),
        (lambda x, y: jax.lax.cond(x > 0, _narrow, jnp.sin, y), [[0], [1]]),
        (lambda x, y: jax.vmap(_narrow)(jnp.ones(2) * x) + y, [[1], [0]]),
        (lambda x, y: _narrow_with_a_rule(x) + y, [[1], [0]]),
        (lambda x, y: jnp.float64(jnp.arange(3.0, dtype=jnp.float32)) * x + y, [[0], [0]]),
        (lambda x, y: _halve(x) + y * (_narrow(x) > 0), [[0], [0]]),
    ],
)
def test_paths_through_something_narrower(function: Any, expected: Any) -> None:
    assert _narrowed(function) == expected


def test_callbacks_are_code_that_is_not_seen() -> None:
    found = _of(lambda x, y: (jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), np.float64), x), x + y))
    assert found.unseen.tolist() == [[True, False], [False, False]]
    assert found.iterates and not found.narrowed


@pytest.mark.parametrize("function", [lambda x: np.float32(x) * x, lambda x: _mutable(x)])
def test_what_cannot_be_read_may_depend_on_everything(function: Any) -> None:
    found = _of(function, 0.5)
    assert (found.reaches.tolist(), found.unseen.tolist()) == ([[True]], [[True]])
    assert (found.stops, found.narrowed) == ((), ())


def _mutable(x: Any) -> Any:
    cell = jax.new_ref(jnp.zeros(()))
    cell[...] = x
    return cell[...]


def test_elements_of_a_study() -> None:
    found = _of(lambda x, y: {"a": _narrow(x), "b": y}, 0.5, np.ones(2))
    ((_, pairs),) = found.narrowed

    def on_the_way(*labels: str, path: Any = ()) -> bool:
        return bool((pairs & found.between(path, *map(Label, labels))).any())

    assert on_the_way("x", "out['a']") and not on_the_way("x", "out['b']") and not on_the_way("y", "combination")
    assert on_the_way("direction", "out['a']") and on_the_way("direction", "combination")
    assert on_the_way("y", "x", path=("rev",)) and not on_the_way("y", "y", path=("rev",))
    rows, columns = (Label("x"), Label("y", (0,)), Label("y", (1,))), (Label("out['a']"), Label("out['b']"))
    assert found.largest(5e-3 * pairs, (), rows, columns).tolist() == [[5e-3, 0], [0, 0], [0, 0]]


def test_elements_that_are_exactly_0() -> None:
    found = _of(lambda x, y, z: {"a": x * y, "b": jnp.sin(z)}, 0.5, np.ones(2), 2.0)
    inputs = (Label("x"), Label("y", (1,)), Label("z"), Label("direction"))
    apart = found.independent((), inputs, (Label("out['a']"), Label("out['b']"), Label("combination")))
    assert apart.tolist() == [[False, True, False], [False, True, False], [True, False, False], [False] * 3]
    mixed = found.independent(("rev",), inputs, inputs[:3])
    assert mixed.tolist() == [[False, False, True], [False, False, True], [True, True, False], [False] * 3]
