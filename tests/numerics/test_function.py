"""A function of trees, held at its arguments, is a function of one vector; what is not floating stays as it is."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradhook
from gradhook.model.errors import GradhookError
from gradhook.numerics.function import BoundArguments, bind_arguments, flatten_function
from gradhook.numerics.sampling import generator


class Layer(NamedTuple):
    weight: Any
    bias: Any
    name: Any = None


def _gather(function: Any, *args: Any, wrt: Any = None, **kwargs: Any) -> BoundArguments:
    return bind_arguments(function, args, kwargs, wrt, generator("test"))


def _names(arguments: BoundArguments) -> list[str]:
    return [leaf.name for leaf in arguments.space.leaves]


def _three(x: Any, y: Any, *rest: Any, scale: Any = 1.0) -> Any:
    return x * y * scale + sum(rest)


@pytest.mark.parametrize(
    "wrt, expected",
    [
        (None, ["x", "y", "rest[0]", "scale"]),
        (0, ["x"]),
        (-1, ["rest[0]"]),
        ("y", ["y"]),
        ((1, "scale"), ["y", "scale"]),
        (["x", 0], ["x"]),
        ("rest[0]", ["rest[0]"]),
    ],
)
def test_what_is_differentiated(wrt: Any, expected: list[str]) -> None:
    assert _names(_gather(_three, 1.0, 2.0, 3.0, wrt=wrt, scale=4.0)) == expected


@pytest.mark.parametrize("wrt", [3, -4, "z", (0, "z")])
def test_wrt_must_name_an_argument(wrt: Any) -> None:
    with pytest.raises(GradhookError) as caught:
        _gather(_three, 1.0, 2.0, 3.0, wrt=wrt, scale=4.0)
    assert "wrt names no argument" in caught.value.message
    assert caught.value.help == "the arguments are x, y, rest[0], scale"


def test_the_nearest_argument_is_named() -> None:
    with pytest.raises(GradhookError) as caught:
        _gather(_three, 1.0, 2.0, wrt="scael", scale=4.0)
    assert caught.value.help == "did you mean 'scale'? the arguments are x, y, scale"


@pytest.mark.parametrize("args, wrt", [((1, True, "relu", None), None), ((1.0, 2), 1)])
def test_something_must_be_floating(args: Any, wrt: Any) -> None:
    with pytest.raises(GradhookError, match="nothing to differentiate"):
        _gather(lambda *xs: xs, *args, wrt=wrt)


@pytest.mark.parametrize(
    "function, names",
    [
        (jax.jit(_three), ["x", "y"]),
        (functools.partial(_three, scale=2.0), ["x", "y"]),
        (lambda *xs: xs, ["xs[0]", "xs[1]"]),
        (jnp.power, ["x1", "x2"]),
        (max, ["arg[0]", "arg[1]"]),
    ],
)
def test_arguments_are_called_what_the_function_calls_them(function: Any, names: list[str]) -> None:
    assert _names(_gather(function, 1.0, 2.0)) == names


def test_leaves_are_named_by_their_path() -> None:
    tree = {"layer": Layer(gradhook.normal(2, 3), np.zeros(2, np.float32), "relu"), "steps": 3, "none": None}
    arguments = _gather(lambda params: params, tree)
    assert _names(arguments) == ["params['layer'].weight", "params['layer'].bias"]
    assert [leaf.dtype for leaf in arguments.space.leaves] == ["float64", "float64"]
    assert arguments.space.leaves[0].spec == gradhook.normal(2, 3)
    assert arguments.point.shape == (8,)


def test_rebuilding_changes_only_what_is_differentiated() -> None:
    tree = {"layer": Layer(1.0, np.ones(2), "relu"), "steps": 3, "none": None, "key": jax.random.key(0)}
    arguments = _gather(lambda params, flag: params, tree, True)
    (params, flag), kwargs = arguments.rebuild([5.0, np.zeros(2)])
    layer = params["layer"]
    assert (layer.weight, layer.bias.tolist(), layer.name) == (5.0, [0.0, 0.0], "relu")
    assert (params["steps"], params["none"], flag, kwargs) == (3, None, True, {})
    assert params["key"] is tree["key"]


def test_an_unknown_object_is_static() -> None:
    class Model:
        scale = 2.0

    held = flatten_function(lambda model, x: model.scale * x, _gather(lambda model, x: 0, Model(), 3.0))
    assert held.call(held.point)[0] == 6


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_floating_leaves_are_promoted(dtype: str) -> None:
    arguments = _gather(lambda x: x, gradhook.normal(2, dtype=dtype))
    assert arguments.leaves[0].dtype == ("complex128" if dtype == "complex64" else "float64")
    assert arguments.point.dtype == np.float64


def test_integer_arrays_keep_their_dtype() -> None:
    arguments = _gather(lambda x, i: x[i], np.ones(3), np.array([0, 2], np.int16))
    assert arguments.leaves[1].dtype == "int16"


def test_outputs_that_are_not_floating_are_left_out() -> None:
    def several(x: Any) -> Any:
        return {"loss": jnp.sum(x), "best": jnp.argmax(x), "pair": (x > 0, 2.5, x[0].astype(jnp.float32)), "n": 3}

    held = flatten_function(several, _gather(several, np.array([3.0, -4.0])))
    assert [leaf.name for leaf in held.outputs.leaves] == ["out['loss']", "out['pair'][1]", "out['pair'][2]"]
    assert list(held.call(held.point)) == [-1, 2.5, 3]


def test_complex_numbers_are_pairs() -> None:
    held = flatten_function(lambda z: z * z, _gather(lambda z: 0, np.array([1 + 2j])))
    assert [str(label) for label in held.inputs.labels()] == ["z[0].real", "z[0].imag"]
    assert list(held.call(jnp.array([1.0, 2.0]))) == [-3, 4]


def test_the_call_is_a_function_of_its_vector() -> None:
    held = flatten_function(_three, _gather(_three, np.array([1.0, 2.0]), 3.0, scale=2.0, wrt="x"))
    assert held.traceable
    assert list(held.call(jnp.array([5.0, 7.0]))) == [30, 42]
    assert jax.jacobian(held.call)(held.point).tolist() == [[6, 0], [0, 6]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 if x > 0 else -x,
        lambda x: float(x) * x,
        lambda x: jnp.asarray(np.sin(x)),
        lambda x: jnp.ones(int(x)).sum() * x,
        lambda x: x * [1.0, 2.0, 3.0][x.astype(int)],
    ],
)
def test_what_cannot_be_traced_is_called_as_it_is(function: Any) -> None:
    held = flatten_function(function, _gather(function, 1.5))
    assert not held.traceable
    assert held.call(jnp.array([1.5]))[0] == function(jnp.asarray(1.5))


def test_what_the_function_raises_gets_through() -> None:
    def bad(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        flatten_function(bad, _gather(bad, 1.0))
