"""One program gives what separate programs give, and a piece that cannot be had spoils no other."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.numerics.autodiff import fused
from gradhook.numerics.autodiff.fused import FusedProgram, Transform
from gradhook.numerics.autodiff.programs import Clock, Programs

POINT, TANGENT, COTANGENT = np.array([0.3, 0.7]), np.array([1.0, -0.5]), np.array([0.75, 1.25, -1.0])
VECTORS, ABSCISSAE = np.eye(2), np.array([[0.0, 0.1, -0.1], [0.0, 0.2, -0.2]])
AIMS = (
    Transform((), (), np.eye(3)),
    Transform(("fwd",), (TANGENT,), np.eye(3)),
    Transform(("rev",), (COTANGENT,), np.eye(2)),
)
KINDS = ("values", "forward", "reverse")


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(fused, "QUICK", 60.0)  # however slow the machine, a bundle may be run again
    with jax.enable_x64(True):
        yield


def _smooth(x: Any) -> Any:
    return jnp.stack([jnp.sin(x[0] * x[1]), jnp.exp(x[0]), x[1] ** 3])


@jax.custom_vjp
def _reverse_only(x: Any) -> Any:
    return _smooth(x)


_reverse_only.defvjp(lambda x: (_smooth(x), x), lambda x, g: jax.vjp(_smooth, x)[1](g))


def _ask(together: FusedProgram, kind: str, path: Any, x: Any = POINT, t: Any = ABSCISSAE) -> Any:
    return together.answer(kind, path, x, VECTORS, t, ())


def _alone(function: Any, kind: str, transform: Transform, x: Any = POINT, t: Any = ABSCISSAE) -> Any:
    programs = Programs(function, transform.path, Clock())
    if kind == "values":
        return programs.values(x, transform.seeds, VECTORS, t).reshape(-1, 2 if transform.path == ("rev",) else 3)
    if kind == "forward":
        return programs.forward(x, transform.seeds, VECTORS)
    return programs.reverse(x, transform.seeds, transform.cotangents)


@pytest.mark.parametrize("transform", AIMS, ids=lambda transform: "".join(transform.path) or "value")
@pytest.mark.parametrize("kind", KINDS)
def test_a_piece_is_what_its_own_program_gives(kind: str, transform: Transform) -> None:
    together = FusedProgram(_smooth, AIMS, Clock())
    assert _ask(together, kind, transform.path) == pytest.approx(_alone(_smooth, kind, transform), rel=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_another_point_and_other_abscissae(kind: str) -> None:
    together = FusedProgram(_smooth, AIMS, Clock())
    first = _ask(together, kind, ())
    other = _ask(together, kind, (), POINT + 0.25, 2 * ABSCISSAE)
    assert other == pytest.approx(_alone(_smooth, kind, AIMS[0], POINT + 0.25, 2 * ABSCISSAE), rel=1e-14)
    assert not np.array_equal(first, other)
    assert np.array_equal(_ask(together, kind, ()), first)


def test_a_slow_bundle_is_not_run_again_for_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused, "QUICK", 0.0)
    together = FusedProgram(_smooth, AIMS, Clock())
    assert _ask(together, "values", ()) is not None
    assert _ask(together, "values", (), POINT + 0.25) is None


def test_a_piece_that_cannot_be_traced_is_left_out() -> None:
    together = FusedProgram(_reverse_only, AIMS, Clock())
    assert _ask(together, "forward", ()) is None
    for kind in ("values", "reverse"):
        assert _ask(together, kind, ()) == pytest.approx(_alone(_reverse_only, kind, AIMS[0]), rel=1e-14)


def test_a_path_of_another_order_is_asked_alone() -> None:
    assert _ask(FusedProgram(_smooth, AIMS, Clock()), "values", ("fwd", "fwd")) is None


def test_what_raises_when_it_runs_is_asked_alone() -> None:
    def refuses(x: Any) -> Any:
        raise ValueError("not today")

    def function(x: Any) -> Any:
        return _smooth(x) + jax.pure_callback(refuses, jax.ShapeDtypeStruct((3,), np.float64), x)

    assert _ask(FusedProgram(function, AIMS[:1], Clock()), "values", ()) is None


def test_the_code_of_the_user_is_traced_once_for_all_kinds() -> None:
    traced: list[Any] = []

    def counted(x: Any) -> Any:
        traced.append(x)
        return _smooth(x)

    clock = Clock()
    together = FusedProgram(counted, AIMS, clock)
    for kind in KINDS:
        for transform in AIMS:
            assert _ask(together, kind, transform.path) is not None
    assert len(traced) <= len(KINDS)
    assert clock.compile > 0 and clock.run > 0
