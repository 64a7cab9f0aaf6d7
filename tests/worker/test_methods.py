"""A method whose arguments lack the instance gets one, or its author learns what to write; and what else is called."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from gradhook import case, normal, positive
from gradhook.execution.worker.cases.methods import lacks_instance, owner
from gradhook.execution.worker.examine import examine
from gradhook.model.results import CheckSettings, ClaimKind, Target, TargetReport, Verdict
from gradhook.numerics.case import CheckCase


class Affine:
    """It has to be told its slope."""

    def __init__(self, slope: float) -> None:
        self.slope = slope

    def apply(self, x: Any, shift: Any = 0.0) -> Any:
        return self.slope * jnp.sin(x) + shift


class Free:
    """It can be built from nothing."""

    slope = 2.0

    def apply(self, x: Any, shift: Any = 0.0) -> Any:
        return self.slope * jnp.log(x) + shift

    @partial(jax.jit, static_argnums=0)
    def compiled(self, x: Any) -> Any:
        return self.slope * jnp.sin(x)

    @staticmethod
    def alone(x: Any) -> Any:
        return x

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return cls.slope * x

    class Inner:
        def apply(self, x: Any) -> Any:
            return x


def _examine(function: Any, kind: ClaimKind = ClaimKind.EXACT, **options: Any) -> TargetReport:
    target = Target("mod", "f", "mod.py", 7, 6, kind, "/nowhere")
    return examine(function, target, options, CheckSettings(), lambda case: None)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (Affine.apply, Affine), (Free.compiled, Free), (Free.Inner.apply, Free.Inner), (jax.jit(Free.apply), Free),
        (Free.alone, None), (Free.of_class, None), (Free().apply, None), (jax.jit(Free().apply), None),
        (partial(Free.apply, Free()), None), (jnp.sin, None), (Free, None), (lambda x: x, None), (3, None),
    ],
)  # fmt: skip
def test_which_class_a_method_is_of(function: Any, kind: type | None) -> None:
    assert owner(function) is kind


@pytest.mark.parametrize(
    ("args", "lacks"),
    [
        ((normal(3),), True),
        ((normal(3), 1.0), True),
        ((Free(), normal(3)), False),
        ((Free(), normal(3), 1.0), False),
        ((), False),
        ((1.0, 2.0, 3.0), False),
    ],
)
def test_whether_the_instance_is_missing(args: Any, lacks: bool) -> None:
    assert lacks_instance(Free.apply, CheckCase("args", args)) is lacks


def test_a_class_that_cannot_be_built_is_named_with_the_remedy() -> None:
    report = _examine(Affine.apply, args=(normal(3), 0.5))
    (finding,) = report.findings
    assert finding.code == "GRD909"
    assert finding.message == (
        "`Affine.apply` is a method: its args have no Affine for `self`, and Affine() cannot be built without arguments"
    )
    assert finding.help == "write args=lambda: (Affine(…), normal(3), 0.5)"
    assert (finding.path, finding.line) == ("mod.py", 7)


def test_a_factory_gives_the_instance() -> None:
    assert _examine(Affine.apply, args=lambda: (Affine(2.0), normal(3))).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (Free.apply, {"args": (normal(3),), "domain": {"x": "positive"}, "wrt": "x"}),
        (Free.apply, {"cases": {"none": (positive(3),), "own": case(Free(), positive(2))}}),
        (Free.compiled, {"args": (normal(3),), "wrt": 0}),
    ],
)
def test_a_class_that_can_be_built_is(function: Callable[..., Any], options: Any) -> None:
    assert _examine(function, **options).verdict is Verdict.PASS


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Params:
    weight: Any
    bias: float


def test_pytrees_of_other_libraries_are_differentiated_leaf_by_leaf() -> None:
    eqx = pytest.importorskip("equinox", reason="the test extra installs it")

    def loss(layer: Any, params: Params, x: Any) -> Any:
        return jnp.tanh(layer(x)) * params.weight + params.bias

    made = lambda: (eqx.nn.Linear(2, 3, key=jax.random.key(0)), Params(jnp.ones(3), 0.5), normal(2))  # noqa: E731
    assert _examine(eqx.filter_jit(loss), args=made).verdict is Verdict.PASS


def _power(x: Any, power: Any) -> Any:
    return x**2 * power if power > 1 else x


def _ruled(right: bool) -> Any:
    rule = jax.custom_vjp(_power, nondiff_argnums=(1,))
    rule.defvjp(lambda x, power: (rule(x, power), x), lambda power, x, g: (g * x * power * (2 if right else 3),))
    return rule


@pytest.mark.parametrize("by_keyword", [True, False])
@pytest.mark.parametrize(
    ("function", "verdict"),
    [
        (_ruled(True), Verdict.PASS),
        (_ruled(False), Verdict.FAIL),
        (jax.jit(_power, static_argnames="power"), Verdict.PASS),
    ],
)
def test_what_is_held_fixed_is_branched_on(function: Any, verdict: Verdict, by_keyword: bool) -> None:
    given = {"args": (normal(3),), "kwargs": {"power": 2.0}} if by_keyword else {"args": (normal(3), 2.0)}
    report = _examine(function, **given)
    assert report.verdict is verdict
    assert {finding.code for finding in report.findings} <= {"GRD102", "GRD104"}


def test_a_surrogate_with_a_constant_by_keyword() -> None:
    def rounded(x: Any, levels: Any) -> Any:
        return jnp.round(x * levels) / levels if levels > 0 else x

    rule = jax.custom_jvp(rounded, nondiff_argnums=(1,))
    rule.defjvp(lambda levels, primals, tangents: (rule(primals[0], levels), tangents[0]))
    report = _examine(
        rule, ClaimKind.SURROGATE, forward=rounded, derivative_of=lambda x, levels: x, args=(normal(3),),
        kwargs={"levels": 4.0},
    )  # fmt: skip
    assert report.verdict is Verdict.PASS


def test_the_rules_of_equinox_are_claims_like_any() -> None:
    eqx = pytest.importorskip("equinox", reason="the test extra installs it")

    def rule(factor: float) -> Any:
        @eqx.filter_custom_vjp
        def product(x: Any, y: Any) -> Any:
            return jnp.sum(x**2 * y)

        product.def_fwd(lambda perturbed, x, y: (product(x, y), None))
        product.def_bwd(lambda residuals, g, perturbed, x, y: factor * g * x * y)
        return product

    assert _examine(rule(2.0), args=(normal(3), normal(3))).verdict is Verdict.PASS
    assert _examine(rule(3.0), args=(normal(3), normal(3))).verdict is Verdict.FAIL


def test_a_shape_where_an_array_is_meant() -> None:
    alone = _examine(lambda x: x, args=((3, 4),)).findings[0]
    beside = _examine(lambda x, y: jnp.sum(x * y), args=((3, 4), 1.0)).findings[0]
    assert (alone.code, beside.code) == ("GRD909", "GRD904")
    assert alone.help == beside.help == "did you mean normal(3, 4), an array of the shape (3, 4)?"
