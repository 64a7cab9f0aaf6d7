"""Is what holds of every rule asked of one that nobody claims, and is it never a pass?"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, uniform
from gradhook.execution.worker.examine import examine
from gradhook.model.results import CheckSettings, ClaimKind, Target, TargetReport, Verdict

X = uniform(4, low=-3, high=3)


def ask(function: Any, *args: Any, **options: Any) -> TargetReport:
    target = Target("module", "f", "module.py", 1, 1, ClaimKind.RULE, "/nowhere", source="rule")
    return examine(function, target, {"args": args, **options}, CheckSettings(), lambda case: None)


def forward(value: Any, rule: Any) -> Any:
    f = jax.custom_jvp(lambda x: value(x))
    f.defjvp(lambda p, t: rule(f, p[0], t[0]))
    return f


def backward(value: Any, pull: Any) -> Any:
    f = jax.custom_vjp(lambda x: value(x))
    f.defvjp(lambda x: (f(x), x), lambda x, g: (pull(x, g),))
    return f


RIGHT = {
    "exact": forward(jnp.sin, lambda f, x, t: (f(x), jnp.cos(x) * t)),
    "surrogate": forward(jnp.round, lambda f, x, t: (f(x), t)),
    "wrong derivative": backward(jnp.sin, lambda x, g: 3 * g),
    "a value computed in another way": forward(
        lambda x: jnp.log(1 + jnp.exp(x)), lambda f, x, t: (jnp.logaddexp(0.0, x), jax.nn.sigmoid(x) * t)
    ),
    "custom_gradient": jax.custom_gradient(lambda x: (jnp.round(x), lambda g: g)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_rule_in_order_is_skipped_with_what_was_checked(name: str) -> None:
    report = ask(RIGHT[name], X)
    assert (report.verdict, report.findings, report.resolution) == (Verdict.SKIP, (), None)
    assert report.outcomes[0].note == (
        "unclaimed rule, contract checked: value on every route, linear and transposable, shapes and dtypes, "
        "compositions; nothing said about its derivative"
    )


WRONG = {
    "a value of its own": (forward(jnp.round, lambda f, x, t: (x, t)), "GRD201", "called plainly it is"),
    "affine": (forward(jnp.sin, lambda f, x, t: (f(x), t + 1e-3)), "GRD203", "a tangent of 0"),
    "clipped": (backward(jnp.sin, lambda x, g: jnp.clip(g, -1, 1)), "GRD203", "multiplied by"),
    "narrow": (forward(jnp.sin, lambda f, x, t: (f(x), t.astype(jnp.float32))), "GRD204", "float64"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_is_a_failure(name: str) -> None:
    function, code, says = WRONG[name]
    report = ask(function, X)
    found = [f for f in report.findings if f.code == code]
    assert report.verdict is Verdict.FAIL and says in found[0].message


@pytest.mark.parametrize(
    ("rule", "says"),
    [(lambda f, x, t: (f(x), np.float64(2) * t), "bfloat16"), (lambda f, x, t: (f(x), jnp.stack([*t])), "rank 0")],
)
def test_what_nobody_claims_of_it_is_advice(rule: Any, says: str) -> None:
    report = ask(forward(jnp.sin, rule), X)
    assert report.verdict is Verdict.SKIP and "shapes and dtypes" in report.outcomes[0].note
    assert {(f.code, f.verdict) for f in report.findings} == {("GRD204", Verdict.ADVICE)}
    assert says in report.findings[0].message


def test_what_is_no_rule_is_not_asked() -> None:
    report = ask(jnp.sin, normal(3))
    assert report.verdict is Verdict.SKIP
    assert report.outcomes[0].note == "unclaimed rule, nothing could be checked: the function is no custom rule"


@pytest.mark.skipif(getattr(jax.config, "jax_custom_jvp3", False), reason="there a rule is always traced")
def test_what_needs_its_values_in_python_is_no_failure() -> None:
    report = ask(forward(lambda x: x * 2 if x > 0 else x, lambda f, x, t: (f(x), t)), 1.5)
    assert report.verdict is Verdict.SKIP and "value on every route" in report.outcomes[0].note
