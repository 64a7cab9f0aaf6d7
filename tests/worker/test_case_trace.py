"""Does an account tell what happened: inputs, comparisons, the worst element and the reason of its answer?"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from gradhook import case, integers, normal, raises, uniform
from gradhook.execution.worker.examine import examine
from gradhook.model.protocol import Answered, decode, encode
from gradhook.model.results import CheckSettings, ClaimKind, Target, TargetReport
from gradhook.model.trace import CaseTrace, DerivativeTrace

HERE = __file__.rsplit("/", 1)[0]
TOLD = CheckSettings(trace=True, curves=True)


def told(function: Any, settings: CheckSettings = TOLD, kind: str = "exact", **options: Any) -> TargetReport:
    target = Target("pkg.mod", "f", "mod.py", 7, 6, ClaimKind(kind), HERE)
    return examine(function, target, options, settings, lambda case: None)


def only(function: Any, **options: Any) -> CaseTrace:
    (account,) = told(function, **options).traces
    return account


def first(function: Any, **options: Any) -> DerivativeTrace:
    return only(function, **options).comparisons[0]


def smooth(x: Any) -> Any:
    return jnp.sum(jnp.sin(x))


@jax.custom_jvp
def wrong(x: Any, y: Any) -> Any:
    return x * y


@wrong.defjvp
def _rule(primals: Any, tangents: Any) -> Any:
    return wrong(*primals), tangents[0] * primals[1]


def test_inputs_and_outputs() -> None:
    def f(x: Any, n: Any, how: str, flag: float) -> Any:
        return jnp.sum(x) * n * flag

    account = only(f, args=(uniform(2, low=1, high=2), integers(), "relu", 0.5), wrt=0)
    assert [(d.name, d.kind, d.source, d.domain, d.moved) for d in account.inputs] == [
        ("x", "float64[2]", "uniform(2, low=1, high=2)", "(1, 2)", True),
        ("argument 1", "int64[]", "integers(low=0, high=10)", "", False),
        ("argument 2", "str", "given", "", False),
        ("argument 3", "float64[]", "given", "", False),
    ]
    low, high = account.inputs[0].low, account.inputs[0].high
    assert low is not None and high is not None and 1 < low <= high < 2
    assert account.outputs == ("out float64[]",)
    assert account.lines == "2 single inputs and 2 directions that move all of 2; seed 0"


def test_a_pass_with_its_ladder() -> None:
    found = first(smooth, args=(normal(3),))
    assert (found.what, found.failed, found.undecided, found.shape) == ("forward mode", 0, 0, "smooth")
    assert found.passed >= 3
    assert abs(found.claimed - found.measured) <= found.allowed + found.error
    assert found.decision.startswith("passes: claim and measurement differ by ")
    assert found.curve is not None and len(found.curve.steps) >= 11
    assert found.of == found.curve.of


def test_the_worst_element_of_a_failure() -> None:
    account = only(wrong, args=(2.0, 3.0))
    assert [c.what for c in account.comparisons] == ["forward mode", "reverse mode"]
    for found in account.comparisons:
        assert (found.of, found.claimed, round(found.measured, 9)) == ("d out / d y", 0.0, 2.0)
        assert found.failed and found.decision.startswith("fails: claim and measurement differ by 2, ")
    (remark,) = account.remarks
    assert remark.startswith("custom_jvp inside: wrong (test_case_trace.py:")


def test_every_order_and_its_modes() -> None:
    orders = [(c.order, c.what) for c in only(smooth, args=(0.5,), order=2).comparisons]
    assert (1, "forward mode") in orders
    assert (2, "forward over reverse mode") in orders


def test_a_mode_that_there_is_not() -> None:
    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, g: (2 * x * g,))
    found = first(f, args=(1.5,))
    assert (found.what, found.passed, found.curve) == ("forward mode", 0, None)
    assert "custom_vjp" in found.fault


@pytest.mark.parametrize(
    ("kink", "start"),
    [
        (None, "undecided (GRD401): the slopes on the two sides are -1 and 1"),
        ("mean", "passes: it keeps the convention kink='mean'"),
        ("left", "fails: the claim is none of the slopes from -1 to 1, declared is kink='left'"),
    ],
)
def test_decisions_at_a_kink(kink: str | None, start: str) -> None:
    def f(x: Any) -> Any:
        return jnp.maximum(x, -x)

    assert first(f, cases={"corner": case(0.0, kink=kink)}).decision.startswith(start)


def test_less_than_float64_inside() -> None:
    def f(x: Any) -> Any:
        return jnp.sum(jnp.exp(x.astype(jnp.float32))).astype(x.dtype)

    account = only(f, args=(normal(3),))
    assert account.comparisons[0].decision.startswith("undecided (GRD406): the value moves in quanta")
    assert any(remark.startswith("less than float64 inside: a cast to float32") for remark in account.remarks)


def test_a_step_of_the_users_own_has_no_ladder() -> None:
    account = only(smooth, args=(0.5,), eps=1e-3, rtol=1e-3)
    assert account.remarks == ("eps=0.001 was asked for: one central difference of that step, and no ladder",)
    assert account.comparisons[0].curve is None
    assert account.comparisons[0].shape == "smooth"


def test_where_the_function_does_not_run_the_inputs_are_told() -> None:
    def f(x: Any) -> Any:
        raise ValueError("no")

    report = told(f, cases={"raises": case(1.0), "refused": raises(ValueError, normal(2))})
    assert [(a.case, [d.kind for d in a.inputs], a.comparisons) for a in report.traces] == [
        ("raises", ["float64[]"], ()),
        ("refused", ["float64[2]"], ()),
    ]


@pytest.mark.parametrize(
    ("slope", "decision"),
    [(1.0, "passes: as declared, up to rounding"), (2.0, "fails: the rule gives 2, declared is 1")],
)
def test_a_surrogate_stands_beside_what_was_declared(slope: float, decision: str) -> None:
    @jax.custom_jvp
    def ste(x: Any) -> Any:
        return jnp.round(x)

    ste.defjvp(lambda p, t: (ste(*p), slope * t[0]))
    options = {"forward": jnp.round, "derivative_of": lambda x: x}
    (account,) = told(ste, kind="surrogate", args=(uniform(3, low=-2, high=2),), **options).traces
    forward, reverse = account.comparisons
    assert (forward.what, forward.shape) == ("forward mode beside the declared derivative", "declared")
    assert (forward.decision, reverse.decision) == (decision, decision)
    assert bool(forward.failed) is (slope == 2)
    assert (forward.claimed, forward.measured, forward.curve) == (slope, 1.0, None)


def test_nothing_is_told_unasked_and_all_of_it_travels() -> None:
    assert told(smooth, CheckSettings(), args=(0.5,)).traces == ()
    report = told(smooth, args=(0.5,))
    back = decode(encode(Answered(0, report)))
    assert isinstance(back, Answered)
    assert back.report.traces == report.traces
