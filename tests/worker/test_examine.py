"""From an annotation's options to the report about a target: all questions, all kinds of arguments, in this process."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import case, integers, key, normal, positive, raises, spd, uniform
from gradhook.execution.worker.examine import examine
from gradhook.model.results import (
    CheckSettings,
    ClaimKind,
    Finding,
    Outcome,
    OutcomeUpdate,
    Target,
    TargetReport,
    Verdict,
)

PASS, FAIL, UNDECIDED, ERROR, SKIP = (
    Verdict.PASS, Verdict.FAIL, Verdict.UNDECIDED, Verdict.ERROR, Verdict.SKIP,
)  # fmt: skip
HERE = __file__.rsplit("/", 1)[0]


def _examine(
    function: Any,
    kind: str = "exact",
    settings: CheckSettings | None = None,
    announce: Callable[[str | OutcomeUpdate], None] = lambda case: None,
    **options: Any,
) -> TargetReport:
    target = Target("pkg.mod", "f", "mod.py", 7, 6, ClaimKind(kind), HERE)
    return examine(function, target, options, settings or CheckSettings(), announce)


def _only(report: TargetReport) -> Finding:
    (finding,) = report.findings
    return finding


def _outcome(report: TargetReport, code: str, case: str = "args") -> Outcome:
    return next(o for o in report.outcomes if (o.code, o.case) == (code, case))


class Layer(NamedTuple):
    weight: Any
    bias: Any
    note: Any = None


class Scale:
    """A user's class: no pytree, so a constant."""

    factor = 3.0

    def apply(self, x: Any) -> Any:
        return self.factor * x


def _objective(x: Any) -> Any:
    return jnp.sum(jnp.sin(x) * jnp.exp(-x * x))


def _off(x: Any) -> Any:
    """What is stopped counts in the value, not in the derivative: wrong on purpose, by a thousandth."""
    return jnp.exp(x) + 1e-3 * jax.lax.stop_gradient(jnp.exp(x))


@pytest.mark.parametrize(
    "function, args",
    [
        (_objective, (normal(3),)),
        (jnp.sin, (0.7,)),
        (jnp.sin, (np.float32(0.7),)),
        (lambda x: x**2, (jnp.arange(3.0),)),
        (lambda x, n: x**n, (positive(2), 3)),
        (lambda x, i: x[i] ** 2, (normal(4), integers(2, high=4))),
        (lambda x, flag: x if flag else -x, (normal(2), True)),
        (lambda x, kind: jnp.tanh(x) if kind == "tanh" else x, (normal(2), "tanh")),
        (lambda f, x: f(x), (jnp.sin, normal(2))),
        (lambda k, x: x * jax.random.normal(k, (2,)), (key(), normal(2))),
        (lambda k, x: x * jax.random.normal(k, (2,)), (jax.random.PRNGKey(0), normal(2))),
        (lambda p, x: p.weight @ x + p.bias, (Layer(normal(2, 3), normal(2), "first"), normal(3))),
        (lambda p: p["a"] * p["b"][0], ({"a": normal(), "b": [2.0, None], "n": 3},)),
        (lambda x: {"y": jnp.sin(x), "n": 3, "best": jnp.argmax(x)}, (normal(3),)),
        (lambda z: (z * z, jnp.abs(z) ** 2), (normal(2, dtype="complex128"),)),
        (lambda z: z * z, (1 + 2j,)),
        (lambda x, y: jnp.sum(x) + y, (normal(0), 1.0)),
        (lambda m, x: m.apply(x), (Scale(), 2.0)),
        (Scale.apply, (Scale(), 2.0)),
        (jax.jit(lambda x, k: x * len(k), static_argnums=1), (normal(2), "abc")),
        (jax.jit(lambda x, k: x * k, static_argnames="k"), (normal(2), 3)),
        (functools.partial(jnp.power, 2.0), (1.5,)),
        (lambda x: jnp.linalg.slogdet(x)[1], (spd(3),)),
        (lambda x: x * 2 if x > 0 else x * 3, (0.7,)),
        (lambda x: jnp.sin(x), (normal(2, dtype="float32"),)),
        (lambda x: jnp.sin(x), (normal(2, dtype="bfloat16"),)),
        (lambda x: jnp.sum(x**2), (normal(100),)),
    ],
)
def test_right_functions_of_all_kinds_of_arguments(function: Any, args: Any) -> None:
    report = _examine(function, args=args)
    assert (report.findings, report.verdict) == ((), PASS)
    assert report.resolution is not None and report.resolution < 1e-6
    assert report.seconds.run > 0


def test_the_checker_s_scope_is_closed_again() -> None:
    before = jax.config.jax_enable_x64
    _examine(jnp.sin, args=(0.7,))
    assert jax.config.jax_enable_x64 == before


def test_arguments_are_made_in_float64() -> None:
    seen: list[Any] = []

    def make() -> Any:
        seen.append(jnp.ones(2).dtype)
        return (jnp.ones(2),)

    assert _examine(jnp.sin, args=make).verdict is PASS
    assert seen == [np.float64]


def test_keyword_arguments_and_wrt() -> None:
    def f(x: Any, *, scale: Any, shift: Any = 0.0) -> Any:
        return jnp.round(x) * scale + shift

    options = {"args": (1.7,), "kwargs": {"scale": 2.0, "shift": 3.0}}
    assert _examine(f, **options, wrt="scale").verdict is PASS
    assert _outcome(_examine(f, **options, wrt=("scale", "shift")), "GRD101").verdict is PASS
    assert _only(_examine(f, **options, wrt="sclae")).code == "GRD909"


def test_wrt_keeps_the_others_still() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * y + x * jax.lax.stop_gradient(y)  # wrong on purpose for y

    assert _examine(f, args=(1.5, 2.0), wrt=0).verdict is PASS
    assert {finding.leaf for finding in _examine(f, args=(1.5, 2.0), wrt=(0, 1)).findings} == {"y"}


@pytest.mark.parametrize("order", [1, 2])
def test_orders(order: int) -> None:
    report = _examine(_objective, args=(normal(3),), order=order)
    assert report.verdict is PASS
    assert _outcome(report, "GRD103").verdict is (SKIP if order == 1 else PASS)


def test_settings_apply_and_options_go_before() -> None:
    settings = CheckSettings(modes=("fwd",), rtol=1e-2)
    report = _examine(_off, settings=settings, args=(0.5,))
    assert report.verdict is PASS and _outcome(report, "GRD102").verdict is SKIP
    assert _examine(_off, settings=settings, args=(0.5,), rtol=1e-4).verdict is FAIL


@pytest.mark.parametrize("tolerance", [{"rtol": 1e-2}, {"atol": 1e-2}])
def test_a_stated_tolerance(tolerance: dict[str, float]) -> None:
    assert _examine(_off, args=(0.5,)).verdict is FAIL
    assert _examine(_off, args=(0.5,), **tolerance).verdict is PASS


def test_the_truncation_of_a_step_of_one_s_own_accuses_nobody() -> None:
    """A central difference of step 0.01 is off by 2e-5 here, which the doubled step shows."""
    assert _examine(jnp.exp, args=(0.5,), eps=0.01).verdict is PASS
    assert _examine(jnp.exp, args=(0.5,), eps=0.01, rtol=1e-4).verdict is PASS
    assert _examine(_off, args=(0.5,), eps=1e-3).verdict is FAIL


def test_an_independent_derivative() -> None:
    assert _examine(_objective, args=(normal(3),), exact=jax.grad(_objective)).verdict is PASS
    report = _examine(jnp.sin, args=(0.5,), exact=jnp.sin)
    assert {f.code for f in report.findings} == {"GRD106"} and report.verdict is FAIL


def _loop(x: Any) -> Any:
    return jax.lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] * x, c[1] + 1), (x, 0))[0]


@jax.custom_vjp
def _reverse_only(x: Any) -> Any:
    return jnp.sin(x)


_reverse_only.defvjp(lambda x: (jnp.sin(x), jnp.cos(x)), lambda slope, g: (g * slope,))


@pytest.mark.parametrize(
    "function, has, lacks, code, reason",
    [
        (_loop, "fwd", "rev", "GRD102", "while_loop has no reverse rule"),
        (_reverse_only, "rev", "fwd", "GRD101", "custom_vjp has no forward rule"),
    ],
)
def test_modes_that_a_function_does_not_have(function: Any, has: str, lacks: str, code: str, reason: str) -> None:
    report = _examine(function, args=(1.1,))
    assert report.verdict is PASS
    assert _outcome(report, code).verdict is SKIP and reason in _outcome(report, code).note
    assert _examine(function, args=(1.1,), modes=(has,)).verdict is PASS
    report = _examine(function, args=(1.1,), modes=(has, lacks))
    assert (report.verdict, report.findings[0].code) == (FAIL, code)
    assert reason in report.findings[0].message and report.findings[0].mode == lacks


@pytest.mark.parametrize("function", [lambda x: math.sin(x), lambda x: np.sin(x) * np.float64(1)])
def test_code_that_jax_cannot_see_through_has_no_derivative(function: Any) -> None:
    report = _examine(function, args=(0.7,))
    assert report.verdict is FAIL
    assert {f.code for f in report.findings} == {"GRD101", "GRD102"}
    assert all("jax.numpy" in f.help and f.line for f in report.findings)


def test_cases_are_announced_and_answered_in_order() -> None:
    announced: list[str | OutcomeUpdate] = []
    report = _examine(
        jnp.abs,
        announce=announced.append,
        args=(1.0,),
        cases={"zero": (0.0,), "meant": case(0.0, kink="right"), "known": case(-2.0, value=2.0, derivative=-1.0)},
    )
    assert [what for what in announced if isinstance(what, str)] == ["args", "zero", "meant", "known"]
    assert report.verdict is UNDECIDED
    assert {(f.case, f.code) for f in report.findings} == {("zero", "GRD401")}
    assert _outcome(report, "GRD106", "known").verdict is PASS


@pytest.mark.parametrize(
    "function, kink, verdict",
    [
        (jnp.abs, None, UNDECIDED),
        (jnp.abs, "right", PASS),
        (jnp.abs, "left", FAIL),
        (jnp.abs, "mean", FAIL),
        (jnp.abs, "subgradient", PASS),
        (jnp.abs, 1, PASS),
        (jnp.abs, 0.0, FAIL),
        (lambda x: jnp.maximum(x, 0), "mean", PASS),
        (lambda x: jnp.clip(x, 0, 1), 0.5, PASS),
        (lambda x: jnp.array([jnp.abs(x), 2 * x]), "right", PASS),
    ],
)
def test_conventions_at_a_kink(function: Any, kink: Any, verdict: Verdict) -> None:
    report = _examine(function, args=(0.0,), kink=kink)
    assert report.verdict is verdict
    if verdict is not PASS:
        assert all("slopes on its two sides are" in f.message for f in report.findings)


def test_the_seed_decides_what_is_drawn() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        if not isinstance(x, jax.core.Tracer):
            seen.append(np.asarray(x))
        return float(x[0]) * 0 + x[1]  # cannot be traced: runs on numbers

    for seed in (0, 0, 1):
        _examine(f, settings=CheckSettings(seed=seed), args=(normal(2),), modes=("fwd",))
        seen.append(None)
    runs = [run[0] for run in _split(seen)]
    assert (runs[0] == runs[1]).all() and (runs[0] != runs[2]).all()


def _split(seen: list[Any]) -> list[list[Any]]:
    runs: list[list[Any]] = [[]]
    for item in seen:
        if item is None:
            runs.append([])
        else:
            runs[-1].append(item)
    return runs[:-1]


@pytest.mark.parametrize(
    "options, words",
    [
        ({}, "no inputs are given"),
        ({"args": normal(3)}, "not a tuple"),
        ({"args": (1.0,), "order": 9}, "order=9"),
        ({"args": (1.0,), "modes": "forward"}, "modes='forward'"),
        ({"args": (1.0,), "modes": 3}, "modes=3"),
        ({"args": (1.0,), "eps": -1}, "eps=-1"),
        ({"args": (1.0,), "kink": np.zeros(2)}, "kink="),
        ({"args": (1.0,), "wrt": "y"}, "wrt names no argument"),
        ({"args": (1, "relu")}, "nothing to differentiate"),
        ({"cases": {"one": case(1.0, value=np.zeros(3))}}, "value= holds 3 numbers"),
        ({"args": (1.0,), "exact": lambda x: np.zeros(3)}, "the given derivative has the shapes"),
    ],
)
def test_mistakes_in_the_annotation_are_errors_with_a_remedy(options: dict[str, Any], words: str) -> None:
    report = _examine(lambda x, *rest: x * 2.0, **options)
    finding = _only(report)
    assert (report.verdict, finding.code, finding.verdict) == (ERROR, "GRD909", ERROR)
    assert words in finding.message and finding.help


@pytest.mark.parametrize(
    "function, args, code, words",
    [
        (lambda x: 1 / 0, (1.0,), "GRD904", "the function raised: ZeroDivisionError"),
        (lambda x, y: x @ y, (normal(3), normal(4)), "GRD904", "the function raised: TypeError"),
        (jnp.sin, (1.0, 2.0, 3.0), "GRD904", "the function raised: TypeError"),
        (lambda x: x, lambda: (1 / 0,), "GRD902", "the arguments could not be made: ZeroDivisionError"),
        (jnp.argmax, (normal(3),), "GRD909", "the function returns no floating number"),
    ],
)
def test_what_cannot_run_is_an_error(function: Any, args: Any, code: str, words: str) -> None:
    report = _examine(function, args=args)
    finding = _only(report)
    assert (report.verdict, finding.code) == (ERROR, code)
    assert words in finding.message


def test_an_error_names_the_user_s_line() -> None:
    def f(x: Any) -> Any:
        raise KeyError("mine")

    finding = _only(_examine(f, args=(1.0,)))
    assert (finding.path, finding.line) == ("test_examine.py", f.__code__.co_firstlineno + 1)


def test_one_broken_case_does_not_stop_the_others() -> None:
    def f(x: Any) -> Any:
        if x.ndim:
            raise ValueError("a scalar is needed")
        return jnp.sin(x)

    report = _examine(f, args=(1.0,), cases={"vector": (normal(3),), "last": (2.0,)})
    assert report.verdict is ERROR and _only(report).case == "vector"
    assert _outcome(report, "GRD101", "last").verdict is PASS


def test_an_input_that_must_be_refused_is_asked_about_that_alone() -> None:
    def f(x: Any) -> Any:
        if x.ndim != 1:
            raise ValueError("a vector is needed")
        return jnp.sum(x**2)

    report = _examine(f, cases={"good": (normal(2),), "bad": raises(ValueError, 1.0, match="vector")})
    assert report.verdict is PASS
    assert [o.code for o in report.outcomes if o.case == "bad"] == ["GRD302"]
    report = _examine(f, cases={"good": (normal(2),), "bad": raises(TypeError, 1.0)})
    assert {f.code for f in report.findings} == {"GRD302"} and report.verdict is FAIL


@pytest.mark.parametrize(
    "function, args",
    [
        (jnp.log, (-1.0,)),
        (lambda x: jnp.sum(x), (normal(0),)),
        (lambda x: x[:0], (normal(3),)),
        (lambda x: 0 * x, (1.0,)),
    ],
)
def test_nothing_that_could_be_tested_is_not_green(function: Any, args: Any) -> None:
    report = _examine(function, args=args)
    assert report.verdict is UNDECIDED
    assert "GRD410" in {f.code for f in report.findings}


def test_one_case_with_a_slope_is_enough() -> None:
    report = _examine(lambda x: x**2, args=(0.0,), cases={"one": (1.0,)})
    assert report.verdict is PASS


def test_a_nan_gradient() -> None:
    report = _examine(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), args=(np.array([-1.0, 1.0]),))
    assert report.verdict is FAIL and {f.code for f in report.findings} == {"GRD105"}
    assert report.findings[0].index == (0,)


def test_single_precision_inside_is_named_with_its_line() -> None:
    def f(x: Any) -> Any:
        return jnp.sin(x.astype(jnp.float32))

    report = _examine(f, args=(normal(2),))
    assert report.verdict is UNDECIDED
    assert {(f.code, f.path, f.line) for f in report.findings} == {
        ("GRD406", "test_examine.py", f.__code__.co_firstlineno + 1)
    }


def test_a_large_output_does_not_hide_a_small_one() -> None:
    """The derivative is wrong by 3e-5, which differences measure to 5e-5: no pass, whatever stands beside it."""

    def f(x: Any) -> Any:
        return jnp.array([1e12 * x, jnp.sin(x) + 3e-5 * jax.lax.stop_gradient(jnp.sin(x)) + 1e9])

    assert _examine(lambda x: f(x)[1], args=(0.7,)).verdict is FAIL
    assert _examine(f, args=(0.7,)).verdict is FAIL


def test_findings_have_a_place_and_a_command() -> None:
    findings = _examine(jnp.sin, args=(0.5,), exact=jnp.sin).findings
    assert len(findings) == 2
    for finding in findings:
        assert (finding.path, finding.line) == ("mod.py", 7)
        assert finding.reproduce == "gradhook check mod.py -k f"


@jax.custom_jvp
def _straight(x: Any) -> Any:
    return jnp.round(x)


_straight.defjvps(lambda dx, _, x: dx)


def test_a_surrogate() -> None:
    options: dict[str, Any] = {
        "forward": jnp.round,
        "args": (uniform(4, low=-3, high=3),),
        "cases": {"tie": case(0.5, value=0.0, tangent=1.0)},
    }
    report = _examine(_straight, kind="surrogate", derivative_of=lambda x: x, **options)
    assert (report.findings, report.verdict) == ((), PASS)
    assert not {o.code for o in report.outcomes} & {"GRD101", "GRD102", "GRD103"}


def test_a_surrogate_with_another_derivative_than_declared() -> None:
    report = _examine(_straight, kind="surrogate", derivative_of=lambda x: 2 * x, args=(np.array([0.3]),), modes="fwd")
    assert report.verdict is FAIL and "GRD202" in {f.code for f in report.findings}


def test_a_surrogate_that_claims_to_be_exact_fails() -> None:
    report = _examine(_straight, args=(uniform(3, low=0.1, high=0.4),))
    assert report.verdict is FAIL and "GRD101" in {f.code for f in report.findings}


def test_a_dead_unit_beside_a_live_one_is_no_doubt() -> None:
    """relu at -1.3 is exactly flat: 0 ± a few subnormals is a slope of 0, not a coarse one."""
    assert _examine(jax.nn.relu, args=(np.array([-1.3, 0.7]),), order=2).verdict is PASS


def test_the_codes_to_ignore_go_with_answers_that_are_all_there() -> None:
    def narrow(x: Any) -> Any:
        return jnp.sum(jnp.exp(x.astype(jnp.float32))).astype(x.dtype)

    report = _examine(narrow, args=(normal(3),), ignore=("GRD406",))
    assert (report.verdict, report.ignore) == (UNDECIDED, ("GRD406",))
    assert {f.code for f in report.findings} == {"GRD406"}
    assert _only(_examine(narrow, args=(normal(3),), ignore=("GRD901",))).code == "GRD909"


def test_each_answer_is_announced_at_once_with_what_is_still_open() -> None:
    announced: list[str | OutcomeUpdate] = []
    report = _examine(jnp.abs, announce=announced.append, args=(1.0,))
    told = [what for what in announced if isinstance(what, OutcomeUpdate)]
    assert [part.outcome for part in told] == list(report.outcomes)
    codes = [part.outcome.code for part in told]
    assert [part.open for part in told] == [tuple(codes[k + 1 :]) for k in range(len(codes))]
