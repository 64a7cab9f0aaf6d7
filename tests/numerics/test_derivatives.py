"""A comparison holds what differences measure and what each mode claims, along the same directions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.comparison.judge import Tolerance
from gradhook.comparison.probe import DerivativeComparison, DerivativeError
from gradhook.numerics.autodiff.derivatives import MODES, Differentiator, along
from gradhook.numerics.autodiff.programs import Clock
from gradhook.numerics.function import bind_arguments, flatten_function
from gradhook.numerics.sampling import generator


def _differentiator(
    function: Any, *args: Any, modes: tuple[str, ...] = MODES, step: float | None = None
) -> Differentiator:
    held = flatten_function(function, bind_arguments(function, args, {}, None, generator("test")))
    return Differentiator(held, "test", modes, Tolerance(), step, Clock())


def _comparison(differentiator: Differentiator, *path: str) -> DerivativeComparison:
    comparison = differentiator.comparison(path)
    assert isinstance(comparison, DerivativeComparison)
    return comparison


def _holds(comparison: DerivativeComparison, truth: Any, mode: str = "fwd") -> bool:
    part = comparison.columns(mode)
    value, error = comparison.measured.value[:, part], comparison.measured.error[:, part]
    return bool((np.abs(value - truth) <= error).all())


def _product(x: Any) -> Any:
    return jnp.array([jnp.sin(x[0]) * x[1], x[1] ** 3])


X = np.array([0.5, -1.5])
JACOBIAN = np.array([[np.cos(0.5) * -1.5, np.sin(0.5)], [0.0, 3 * 1.5**2]])


def test_first_order() -> None:
    comparison = _comparison(_differentiator(_product, X))
    truth = comparison.directions @ JACOBIAN.T
    assert comparison.order == 1 and len(comparison.weights) == 0
    assert [str(label) for label in comparison.output_labels] == ["out[0]", "out[1]"]
    for mode in MODES:
        assert comparison.autodiff[mode] == pytest.approx(truth, rel=1e-13, abs=1e-15)
        assert _holds(comparison, truth, mode)
    assert comparison.measured.error[~comparison.measured.motionless].max() < 1e-9
    assert comparison.measured.motionless.sum() == 1  # the second output does not depend on the first input


@pytest.mark.parametrize("path", [("fwd",), ("rev",)])
def test_second_order_is_a_difference_of_the_derivative(path: tuple[str, ...]) -> None:
    comparison = _comparison(_differentiator(_product, X), *path)
    seed = comparison.seeds[0]
    if path == ("rev",):
        truth = comparison.directions @ jax.jacobian(lambda x: seed @ jax.jacobian(_product)(x))(X).T
        assert [str(label) for label in comparison.output_labels] == ["x[0]", "x[1]"]
    else:
        truth = comparison.directions @ jax.jacobian(lambda x: jax.jacobian(_product)(x) @ seed)(X).T
        assert [str(label) for label in comparison.output_labels] == ["out[0]", "out[1]"]
    assert comparison.order == 2
    assert _holds(comparison, truth) and comparison.measured.error[~comparison.measured.motionless].max() < 1e-8
    for mode in MODES:
        assert comparison.autodiff[mode] == pytest.approx(np.asarray(truth), rel=1e-12, abs=1e-12)


def test_the_gradient_s_second_order_is_the_hessian() -> None:
    comparison = _comparison(_differentiator(lambda x: jnp.sum(_product(x)), X), "rev")
    assert list(comparison.seeds[0]) == [1.0]
    hessian = np.asarray(jax.hessian(lambda x: jnp.sum(_product(x)))(X))
    assert comparison.autodiff["fwd"][:2] == pytest.approx(hessian, rel=1e-12)


def test_many_outputs_are_pulled_back_in_combinations() -> None:
    def wide(x: Any) -> Any:
        return jnp.sin(jnp.outer(jnp.arange(1.0, 101.0), x).sum(axis=1))

    comparison = _comparison(_differentiator(wide, X))
    assert comparison.weights.shape == (4, 100)
    assert comparison.columns("fwd") == slice(0, 100) and comparison.columns("rev") == slice(100, None)
    assert comparison.autodiff["fwd"].shape == (4, 100) and comparison.autodiff["rev"].shape == (4, 4)
    assert comparison.autodiff["fwd"] @ comparison.weights.T == pytest.approx(comparison.autodiff["rev"], rel=1e-12)
    assert _holds(comparison, comparison.autodiff["rev"], "rev")


def test_many_inputs_are_moved_together() -> None:
    comparison = _comparison(_differentiator(lambda x: jnp.sum(x**2), np.linspace(-1, 1, 100)))
    assert [str(label) for label in comparison.input_labels] == [
        *(f"direction[{k}]" for k in range(4)),
        "direction[4] (balanced)",
    ]
    assert comparison.autodiff["fwd"] == pytest.approx(comparison.autodiff["rev"], rel=1e-12)
    assert _holds(comparison, comparison.autodiff["fwd"]) and (comparison.autodiff["fwd"] != 0).all()


def test_studies_are_made_once() -> None:
    differentiator = _differentiator(_product, X)
    assert differentiator.comparison() is differentiator.comparison()
    assert differentiator.comparison(("rev",)) is differentiator.comparison(("rev",))


def test_every_study_moves_along_the_same_directions() -> None:
    differentiator = _differentiator(_product, X)
    assert (_comparison(differentiator).directions == _comparison(differentiator, "fwd").directions).all()


def test_only_the_modes_asked_for() -> None:
    assert set(_comparison(_differentiator(_product, X, modes=("rev",))).autodiff) == {"rev"}


def test_a_mode_that_jax_does_not_have() -> None:
    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jnp.sin(x)

    f.defvjp(lambda x: (jnp.sin(x), jnp.cos(x)), lambda c, g: (g * c,))
    comparison = _comparison(_differentiator(lambda x: f(x), X))
    forward = comparison.autodiff["fwd"]
    assert isinstance(forward, DerivativeError) and forward.missing and "no forward rule" in forward.message
    assert not isinstance(comparison.autodiff["rev"], DerivativeError)


def test_a_rule_that_raises_is_a_fault_with_its_place() -> None:
    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.sin(x)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        raise KeyError("forgotten")

    comparison = _comparison(_differentiator(lambda x: f(x), X))
    for mode in MODES:
        claim = comparison.autodiff[mode]
        assert isinstance(claim, DerivativeError) and not claim.missing
        assert "KeyError" in claim.message and claim.path == __file__ and claim.line > 0


def test_what_the_function_raises_is_raised() -> None:
    def f(x: Any) -> Any:
        return jnp.zeros(3) @ x

    with pytest.raises(TypeError):
        _differentiator(f, X)


def test_a_derivative_of_a_missing_mode_is_a_fault() -> None:
    def loop(x: Any) -> Any:
        return jax.lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] * x, c[1] + 1), (x, 0))[0]

    fault = _differentiator(loop, np.array([1.1])).comparison(("rev",))
    assert isinstance(fault, DerivativeError) and fault.missing


def test_functions_that_cannot_be_traced() -> None:
    def choice(x: Any) -> Any:
        return jnp.sin(x) if x.sum() > 0 else -x

    comparison = _comparison(_differentiator(choice, np.array([0.5, 1.0])), "fwd")
    assert comparison.autodiff["fwd"] == pytest.approx(comparison.autodiff["rev"], rel=1e-13)
    assert _holds(comparison, comparison.autodiff["fwd"])


def test_the_user_s_step() -> None:
    comparison = _comparison(_differentiator(jnp.exp, np.array(0.5), step=0.01))
    plain = (np.exp(0.51) - np.exp(0.49)) / 0.02
    assert comparison.measured.value[0, 0] == pytest.approx(plain, rel=1e-13)


def test_rows_along_directions_ignore_what_does_not_move() -> None:
    rows = np.array([[1.0, np.nan], [2.0, np.inf]])
    found = along(rows, np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]))
    assert list(found[0]) == [1, 2]
    assert np.isnan(found[1, 0]) and np.isinf(found[1, 1])
    assert np.isnan(found[2, 0]) and np.isinf(found[2, 1])
