"""Three programs for each function: compiled once for each shape, or walked in Python where tracing is impossible."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.numerics.autodiff.programs import Clock, Programs, derivative

POINT = np.array([0.3, -0.7])
JACOBIAN = np.array([[np.cos(0.3), 0.0], [-0.7, 0.3], [0.0, 2 * -0.7]])


def _three(x: Any) -> Any:
    return jnp.array([jnp.sin(x[0]), x[0] * x[1], x[1] ** 2])


def _three_with_a_choice(x: Any) -> Any:
    return _three(x) if x[0] > 0 else 0 * _three(x)


@pytest.fixture(params=[_three, _three_with_a_choice], ids=["traced", "eager"])
def programs(request: pytest.FixtureRequest) -> Programs:
    return Programs(request.param, (), Clock(), traceable=request.param is _three)


def test_values_along_lines(programs: Programs) -> None:
    t = np.array([[0.0, 0.1, -0.1], [0.0, 1.0, 2.0]])
    values = programs.values(POINT, (), np.eye(2), t)
    assert values.shape == (2, 3, 3) and values.dtype == np.float64
    assert values[0, 1] == pytest.approx(np.array([np.sin(0.4), -0.28, 0.49]), rel=1e-14)
    assert values[1, 2] == pytest.approx(np.array([np.sin(0.3), 0.39, 1.69]), rel=1e-14)


def test_derivatives_of_both_modes(programs: Programs) -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])
    assert programs.forward(POINT, (), vectors) == pytest.approx(vectors @ JACOBIAN.T, rel=1e-14)
    assert programs.reverse(POINT, (), np.eye(3)) == pytest.approx(JACOBIAN, rel=1e-14)


TANGENT, COTANGENT, LATER = np.array([1.0, -2.0]), np.array([1.0, 0.5, -1.0]), np.array([0.5, 3.0])


def _dense(path: tuple[str, ...]) -> Any:
    """The same derivatives by whole Jacobians."""
    along = lambda f, v: lambda x: jax.jacobian(f)(x) @ v  # noqa: E731
    pulled = lambda f, w: lambda x: w @ jax.jacobian(f)(x)  # noqa: E731
    return {
        ("fwd",): along(_three, TANGENT),
        ("rev",): pulled(_three, COTANGENT),
        ("fwd", "rev"): pulled(along(_three, TANGENT), COTANGENT),
        ("rev", "rev"): pulled(pulled(_three, COTANGENT), LATER),
        ("rev", "fwd"): along(pulled(_three, COTANGENT), LATER),
    }[path]


@pytest.mark.parametrize(
    "path, seeds",
    [
        (("fwd",), (TANGENT,)),
        (("rev",), (COTANGENT,)),
        (("fwd", "rev"), (TANGENT, COTANGENT)),
        (("rev", "rev"), (COTANGENT, LATER)),
        (("rev", "fwd"), (COTANGENT, LATER)),
    ],
)
def test_derivatives_of_derivatives(path: tuple[str, ...], seeds: Any) -> None:
    found = np.asarray(derivative(_three, path, seeds)(POINT))
    assert found == pytest.approx(np.asarray(_dense(path)(POINT)), rel=1e-12)


def test_one_compilation_for_each_shape() -> None:
    traced: list[Any] = []

    def counted(x: Any) -> Any:
        traced.append(x)
        return _three(x)

    programs = Programs(counted, (), Clock())
    for shift in (0.0, 1.0, 2.0):
        programs.values(POINT + shift, (), np.eye(2), np.full((2, 3), shift))
    first = len(traced)
    programs.values(POINT, (), np.eye(2), np.zeros((2, 5)))
    assert 1 <= first < len(traced) <= 2 * first


def test_time_is_kept() -> None:
    clock = Clock()
    Programs(_three, (), clock).forward(POINT, (), np.eye(2))
    assert clock.compile > 0 and clock.run > 0


def test_a_rule_for_batches_is_never_used() -> None:
    """Points are walked one by one: a wrong batching rule of the user's is another question."""

    @jax.custom_batching.custom_vmap
    def f(x: Any) -> Any:
        return jnp.sin(x)

    @f.def_vmap
    def _(size: int, batched: Any, x: Any) -> Any:
        return jnp.zeros_like(x), True

    values = Programs(lambda x: f(x), (), Clock()).values(POINT, (), np.eye(2), np.zeros((2, 3)))
    assert values == pytest.approx(np.broadcast_to(np.sin(POINT), (2, 3, 2)))
