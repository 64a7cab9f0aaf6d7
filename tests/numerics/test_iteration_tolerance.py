"""A function that repeats something until numbers are close enough has a value, and a slope, to a tolerance."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.execution.worker.examine import examine
from gradhook.model.results import CheckSettings, ClaimKind, Target, Verdict
from gradhook.numerics.function import bind_arguments, flatten_function
from gradhook.numerics.jaxpr.flows import dependence
from gradhook.numerics.jaxpr.iteration_tolerance import CALLBACK, LOOP, iteration_error
from gradhook.numerics.sampling import generator

MATRIX = np.array([[3.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 5.0]])


def _until_close(x: Any) -> Any:
    return jax.lax.while_loop(lambda s: jnp.abs(s[1] - s[0]) > 1e-9, lambda s: (s[1], jnp.cos(x * s[1])), (9.0 + x, x))[
        1
    ]


def _until(a: Any, tolerance: Any) -> Any:
    """The tolerance is an operand of the condition."""
    step = lambda s: (s[1], jnp.cos(a * s[1]))  # noqa: E731
    return jax.lax.while_loop(lambda s: jnp.abs(s[1] - s[0]) > tolerance, step, (9.0 + a, a))[1]


def _relative(a: Any, tolerance: float) -> Any:
    """The tolerance is a part of the numbers themselves."""
    step = lambda s: (s[1], jnp.cos(a * s[1]))  # noqa: E731
    return jax.lax.while_loop(lambda s: jnp.abs(s[1] - s[0]) > tolerance * jnp.abs(s[0]), step, (9.0 + a, a))[1]


def _counted(x: Any) -> Any:
    return jax.lax.fori_loop(0, jnp.int32(3), lambda _, y: jnp.sin(y), x)


def _called_back(x: Any) -> Any:
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), np.float64), x)


@pytest.mark.parametrize(
    "function, expected",
    [
        (_until_close, 1e-9**0.5),
        (jax.jit(_until_close), 1e-9**0.5),
        (lambda a: _until(a, 1e-9), 1e-9**0.5),
        (lambda a: jax.jit(_until)(a, 1e-9), 1e-9**0.5),
        (lambda a: jax.jit(_until)(a, 10 * jnp.float64(1e-10)), 1e-9**0.5),
        (lambda a: _relative(a, 1e-9), 1e-9**0.5),
        (lambda a: _until(a, jnp.sum(jnp.ones(3)) * 1e-9), LOOP),
        (lambda a: _until(a, 0.9), LOOP),
        (lambda b: _conjugate_gradients(b * jnp.ones(3), 1e-5), LOOP),
        (_called_back, CALLBACK),
        (_counted, 0.0),
        (jnp.sin, 0.0),
        (lambda x: jax.scipy.special.gammainc(2.0, x), 0.0),
    ],
)
def test_what_iterations_leave_open(function: Any, expected: float) -> None:
    """JAX's own series go to the end of float64; its solvers have the tolerance of the user."""
    with jax.enable_x64(True):
        held = flatten_function(function, bind_arguments(function, (0.9,), {}, None, generator("test")))
        np.testing.assert_allclose(iteration_error(dependence(held)), [[expected]], rtol=1e-12)


def _fixed_point(factor: float) -> Any:
    solve = jax.custom_jvp(_until_close)

    def tangent(t: Any, x: Any, a: Any) -> Any:
        return -factor * jnp.sin(a * x) * x / (1 + a * jnp.sin(a * x)) * t

    solve.defjvps(tangent)
    return solve


def _conjugate_gradients(b: Any, tolerance: float) -> Any:
    return jax.scipy.sparse.linalg.cg(lambda v: jnp.asarray(MATRIX) @ v, b, tol=tolerance)[0]


def _verdict(function: Any, argument: Any, **said: Any) -> Verdict:
    target = Target("solvers", "solve", "solvers.py", 1, 1, ClaimKind.EXACT, ".")
    return examine(function, target, {"args": (argument,), **said}, CheckSettings(), lambda _: None).verdict


@pytest.mark.parametrize("factor, verdict", [(1.0, Verdict.UNDECIDED), (1.00001, Verdict.FAIL), (1.01, Verdict.FAIL)])
def test_an_implicit_rule_of_a_truncated_iteration(factor: float, verdict: Verdict) -> None:
    assert _verdict(_fixed_point(factor), 0.9) is verdict


@pytest.mark.parametrize("factor, verdict", [(1.0, Verdict.PASS), (1.00001, Verdict.FAIL)])
def test_with_a_stated_accuracy_it_is_judged_by_that(factor: float, verdict: Verdict) -> None:
    assert _verdict(_fixed_point(factor), 0.9, rtol=1e-6) is verdict


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-10])
def test_no_right_solver_is_accused(tolerance: float) -> None:
    assert _verdict(lambda b: _conjugate_gradients(b, tolerance), np.array([1.0, 2.0, 3.0])) is not Verdict.FAIL
