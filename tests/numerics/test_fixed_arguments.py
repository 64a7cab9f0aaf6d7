"""Arguments that a function holds fixed are known, however they are passed and whatever is wrapped around it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal
from gradhook.model.errors import GradhookError
from gradhook.numerics.function import BoundArguments, bind_arguments, differentiated, fixed_names, sample_fixed
from gradhook.numerics.jaxpr.source import parameter_names
from gradhook.numerics.sampling import generator


def plain(x: Any, delta: Any = 1.0) -> Any:
    return x * delta


class Model:
    @partial(jax.jit, static_argnums=0)
    def apply(self, x: Any) -> Any:
        return x


VJP = jax.custom_vjp(plain, nondiff_argnums=(1,))
JVP = jax.custom_jvp(plain, nondiff_argnums=(1,))


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (plain, set()),
        (VJP, {"delta"}),
        (JVP, {"delta"}),
        (jax.jit(VJP), {"delta"}),
        (jax.custom_jvp(jax.jit(plain, static_argnames="delta")), {"delta"}),
        (jax.jit(plain, static_argnames="delta"), {"delta"}),
        (jax.jit(plain, static_argnums=1), {"delta"}),
        (jax.jit(plain, static_argnums=-1), {"delta"}),
        (partial(jax.jit(plain, static_argnames="delta"), delta=2.0), {"delta"}),
    ],
)
def test_by_position_and_by_keyword(function: Callable[..., Any], names: set[str]) -> None:
    assert fixed_names(function, 1, {"delta"}) == names
    if not isinstance(function, partial):
        assert fixed_names(function, 2, ()) == names
    assert fixed_names(function, 1, ()) == set()


def test_a_method_counts_its_instance() -> None:
    assert fixed_names(Model.apply, 2, ()) == {"self"}
    assert fixed_names(Model().apply, 1, ()) == set()


def test_places_beyond_the_names() -> None:
    def many(*xs: Any) -> Any:
        return sum(xs)

    assert fixed_names(jax.jit(many, static_argnums=(1,)), 2, ()) == {"xs[1]"}


def _gather(function: Any, *args: Any, wrt: Any = None, **kwargs: Any) -> BoundArguments:
    return bind_arguments(function, args, kwargs, wrt, generator("test"))


def _handed(arguments: BoundArguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return arguments.rebuild([arguments.leaves[place] for place in arguments.moved])


@pytest.mark.parametrize("value", [2.0, 3, "relu", (1.0, 2.0), frozenset({1.0})])
def test_they_are_handed_over_as_they_are(value: Any) -> None:
    by_position, by_keyword = _gather(VJP, 1.0, value), _gather(VJP, 1.0, delta=value)
    assert _handed(by_position)[0][1] is value
    assert _handed(by_keyword)[1]["delta"] is value
    assert [leaf.name for leaf in by_keyword.space.leaves] == ["x"]
    assert [leaf.name for leaf in by_position.space.leaves] == ["x"]


def test_a_number_that_is_drawn_for_one_can_be_hashed() -> None:
    value = _handed(_gather(VJP, 1.0, delta=normal()))[1]["delta"]
    assert type(value) is float
    assert sample_fixed({"a": normal(), "b": normal(3), "c": 1}, np.random.default_rng(0))["b"].shape == (3,)


def test_an_array_is_promoted_as_any_constant() -> None:
    with jax.enable_x64(True):
        value = _handed(_gather(VJP, 1.0, np.ones(2, np.float32)))[0][1]
    assert value.dtype == "float64"


def test_wrt_cannot_name_one() -> None:
    with pytest.raises(GradhookError, match="wrt names `delta`, which the function holds fixed"):
        _gather(VJP, 1.0, 2.0, wrt="delta")


def test_a_declared_function_is_differentiated_in_the_same_arguments() -> None:
    assert differentiated(VJP, (1.0,), {"delta": 1.0}, None) == [0]
    assert differentiated(VJP, (), {"x": 1.0, "delta": 1.0}, None) == ["x"]
    assert differentiated(VJP, (1.0, 2.0), {}, "x") == "x"
    assert differentiated(plain, (1.0, 2.0), {}, None) is None


def test_the_rules_of_equinox() -> None:
    eqx = pytest.importorskip("equinox", reason="the test extra installs it")

    @eqx.filter_custom_vjp
    def back(tree: Any, other: Any, *, scale: Any) -> Any:
        return jnp.sum(tree * other * scale)

    @eqx.filter_custom_jvp
    def ahead(x: Any, y: Any, *, scale: Any) -> Any:
        return x * y * scale

    for function, names in ((back, {"other", "scale"}), (ahead, {"scale"})):
        assert fixed_names(function, 2, {"scale"}) == fixed_names(eqx.filter_jit(function), 2, {"scale"}) == names
    assert parameter_names(back, 2) == ["tree", "other"]
    assert parameter_names(ahead, 2) == ["x", "y"]
