"""What a surrogate does on every route, beside what was declared for it; its own differences play no part."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.comparison.probe import DerivativeError
from gradhook.comparison.surrogate_probe import SurrogateValues
from gradhook.model.errors import GradhookError
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.case import CheckCase, CheckOptions
from gradhook.numerics.function_probe import FunctionProbe

ROUTES = {"called plainly", "under jit", "under vmap", "under jvp", "under vjp"}


@jax.custom_jvp
def _straight(x: Any) -> Any:
    return jnp.round(x)


@_straight.defjvp
def _straight_jvp(primals: Any, tangents: Any) -> Any:
    return jnp.round(primals[0]), tangents[0]


X = np.array([0.4, 1.6, -2.2])


def _contract(function: Any, *args: Any, tangent: Any = None, **said: Any) -> SurrogateValues:
    check_case = CheckCase("batch", args, tangent=tangent)
    found = FunctionProbe(
        function, check_case, CheckOptions(surrogate=True, **said), "test", Clock()
    ).surrogate_values()
    assert found is not None
    return found


def test_the_value_on_every_route() -> None:
    found = _contract(_straight, X, forward=jnp.round, derivative_of=lambda x: x)
    assert set(found.values) >= ROUTES
    assert all(list(value) == [0, 2, -2] for value in found.values.values())  # type: ignore[arg-type]
    assert found.references and all(list(reference) == [0, 2, -2] for reference in found.references)


@pytest.mark.parametrize(
    "said", [{"derivative_of": lambda x: x}, {"rule": lambda primals, tangents: tangents[0]}], ids=["function", "rule"]
)
def test_the_declared_derivative_along_every_direction(said: Any) -> None:
    found = _contract(_straight, X, **said)
    assert found.references == ()
    assert (found.declared == found.directions).all()
    assert (found.autodiff["fwd"] == found.declared).all()
    assert found.autodiff["rev"] == pytest.approx(found.declared)


def test_a_rule_sees_all_arguments_and_zeros_for_those_that_stay() -> None:
    def scaled(x: Any, k: Any, n: int) -> Any:
        return _straight(x) * k * n

    def rule(primals: Any, tangents: Any) -> Any:
        return tangents[0] * primals[1] * primals[2] + 1e9 * tangents[1]

    found = _contract(scaled, X, 2.0, 3, wrt="x", rule=rule)
    assert (found.autodiff["fwd"] == found.declared).all()
    assert (found.declared == 6 * found.directions).all()


def test_a_tangent_given_with_a_case_is_for_ones() -> None:
    found = _contract(_straight, X, tangent=[1.0, 1.0, 0.0])
    assert np.isnan(found.declared[:-1]).all()
    assert list(found.declared[-1]) == [1, 1, 0]
    assert list(found.directions[-1]) == [1, 1, 1]
    assert str(found.input_labels[-1]) == "a tangent of ones"
    assert list(_contract(_straight, X, tangent=1.0).declared[-1]) == [1, 1, 1]


@pytest.mark.parametrize(
    "said, message",
    [
        ({"tangent": [1.0, 2.0]}, "tangent= holds 2 numbers, the function returns 3"),
        ({"forward": jnp.sum}, "forward= returns"),
        ({"derivative_of": lambda x: (x, x)}, "derivative_of= returns"),
        ({"rule": lambda primals, tangents: tangents[0][:1]}, "rule= returns"),
    ],
)
def test_declarations_of_another_shape(said: Any, message: str) -> None:
    with pytest.raises(GradhookError, match=message):
        _contract(_straight, X, **said)


def test_routes_and_modes_that_do_not_exist() -> None:
    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jnp.round(x)

    f.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))
    found = _contract(lambda x: f(x), X, derivative_of=lambda x: x)
    assert not isinstance(found.values["under vjp"], DerivativeError)
    for answer in (found.autodiff["fwd"], found.values.get("under jvp", found.autodiff["fwd"])):
        assert isinstance(answer, DerivativeError) and answer.missing


def test_a_value_that_differs_under_differentiation_is_kept_as_it_is() -> None:
    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.round(x)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return primals[0], tangents[0]

    found = _contract(lambda x: f(x), X, forward=jnp.round)
    assert list(found.values["under jvp"]) == list(X)
    assert list(found.values["under jit"]) == [0, 2, -2]
