"""GRD204: the derivative takes every dtype and shape that the function takes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import uniform
from gradhook.checks import grd204_structure as check
from gradhook.model.results import Finding, Verdict

X = uniform(4, low=-3, high=3)
MASK = np.array([True, False, True, True])


def rounded(rule: Any) -> Any:
    """round with a rule that gives the tangent from the point and the tangent."""
    f = jax.custom_jvp(lambda x: jnp.round(x))
    f.defjvp(lambda p, t: (f(p[0]), rule(p[0], t[0])))
    return f


def test_a_rule_for_every_dtype_passes_and_says_what_was_asked(ask: Any) -> None:
    outcome = ask(check, rounded(lambda x, t: 0.5 * t), X, surrogate=True)
    assert outcome.verdict is Verdict.PASS
    assert outcome.note == "traced for float64, float32, bfloat16, rank 0, size 0"


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (lambda x, t: np.float64(0.5) * t, "bfloat16"),
        (lambda x, t: t.astype(jnp.float32), "float64"),
        (lambda x, t: t.at[0].set(t[0]) if t.ndim else t[0], "rank 0"),
        (lambda x, t: t + 0 * t[0] if t.shape != (0,) else t[:, None], "size 0"),
    ],
)
def test_a_rule_that_fits_one_dtype_or_shape_only(ask: Any, rule: Any, name: str) -> None:
    outcome = ask(check, rounded(rule), X, surrogate=True)
    assert any(f.message.startswith(f"for {name}, ") for f in outcome.findings)


def test_what_the_function_refuses_its_derivative_may_refuse(ask: Any) -> None:
    f = jax.custom_jvp(lambda x: jnp.round(x) * x[0])
    f.defjvp(lambda p, t: (f(p[0]), t[0] * p[0][0]))
    assert ask(check, f, X, surrogate=True).verdict is Verdict.PASS


def test_a_value_of_another_dtype_than_the_reference(ask: Any) -> None:
    def wide(x: Any) -> Any:
        return (x > 0).astype(jnp.promote_types(x.dtype, "float32"))

    f = jax.custom_jvp(wide)
    f.defjvp(lambda p, t: (f(p[0]), t[0].astype(f(p[0]).dtype)))
    outcome = ask(check, f, X, surrogate=True, forward=lambda x: (x > 0).astype(x.dtype))
    assert any("that of forward=" in f.message for f in outcome.findings)


@pytest.mark.parametrize(
    ("function", "rule"),
    [
        (lambda x: x / jnp.sum(x), lambda x, g: g / x.sum() - (g * x).sum(axis=-1, keepdims=True) / x.sum() ** 2),
        (lambda x: jnp.where(MASK, x, 0.0), lambda x, g: jnp.where(MASK, g, 0.0)),
    ],
)
def test_a_function_of_whole_vectors_need_not_know_scalars(ask: Any, function: Any, rule: Any) -> None:
    f = jax.custom_vjp(function)
    f.defvjp(lambda x: (f(x), x), lambda x, g: (rule(x, g),))
    outcome = ask(check, f, X, modes=("rev",))
    assert outcome.verdict is Verdict.PASS
    assert "rank 0" not in outcome.note


def halves(x: Any, t: Any) -> Any:
    return np.float64(0.5) * t


def for_vectors(x: Any, t: Any) -> Any:
    return jnp.stack([t[k] for k in range(t.shape[0])])


@pytest.mark.parametrize(
    ("rule", "claim", "names"),
    [
        (halves, {"dtypes": ("bfloat16",)}, {"bfloat16"}),
        (halves, {"dtypes": ("float32", "float16")}, {"float16"}),
        (for_vectors, {"shapes": "any"}, {"rank 0", "size 0"}),
    ],
)
def test_what_is_claimed_besides_is_a_failure(ask: Any, rule: Any, claim: dict[str, Any], names: set[str]) -> None:
    beyond, claimed = ask(check, rounded(rule), X), ask(check, rounded(rule), X, **claim)
    assert beyond.verdict is Verdict.PASS and {f.verdict for f in beyond.findings} == {Verdict.ADVICE}
    assert claimed.verdict is Verdict.FAIL
    assert _named(claimed.findings, Verdict.FAIL) == names


def test_shapes_are_claimed_of_any_function(ask: Any) -> None:
    f = jax.custom_vjp(lambda x: x / jnp.sum(x))
    f.defvjp(lambda x: (f(x), x), lambda x, g: (g / x.sum() - (g * x).sum(axis=-1, keepdims=True) / x.sum() ** 2,))
    outcome = ask(check, f, X, modes=("rev",), shapes="any")
    assert "rank 0" in outcome.note and _named(outcome.findings, Verdict.FAIL) == {"rank 0"}


def test_float32_is_part_of_every_claim(ask: Any) -> None:
    outcome = ask(check, rounded(lambda x, t: t.astype(jnp.float16) if t.dtype == "float32" else t), X)
    assert outcome.verdict is Verdict.FAIL and _named(outcome.findings, Verdict.FAIL) == {"float32"}


def _named(findings: tuple[Finding, ...], verdict: Verdict) -> set[str]:
    return {f.message.split(",")[0].removeprefix("for ") for f in findings if f.verdict is verdict}
