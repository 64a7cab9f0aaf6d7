"""Which kinds of rules, arguments and outputs can a contract be about, and what does it say of a right one?"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, uniform
from gradhook.model.results import ClaimKind, Verdict

X = uniform(5, low=-3, high=3)


def _rounded(rule: Any = None) -> Any:
    f = jax.custom_jvp(lambda x: jnp.round(x))
    f.defjvp(rule or (lambda p, t: (f(p[0]), t[0])))
    return f


def _backward() -> Any:
    f = jax.custom_vjp(lambda x: jnp.round(x))
    f.defvjp(lambda x: (f(x), None), lambda _, g: (g,))
    return f


def _pair() -> Any:
    """A dictionary in; a tuple with an integer out."""
    f = jax.custom_jvp(lambda tree: (jnp.round(tree["a"]) * tree["b"], jnp.sign(tree["b"]).astype(jnp.int32)))

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (tree,), (dot,) = primals, tangents
        value, whole = f(tree)
        first = dot["a"] * tree["b"] + jnp.round(tree["a"]) * dot["b"]
        return (value, whole), (first, np.zeros(whole.shape, jax.dtypes.float0))

    return f


def _sharp() -> Any:
    """An option that is no array."""

    def step(x: Any, slope: float) -> Any:
        return jnp.where(x > 0, jnp.ones_like(x), jnp.zeros_like(x)) if slope > 0 else jnp.zeros_like(x)

    f = jax.custom_jvp(step, nondiff_argnums=(1,))
    f.defjvp(
        lambda slope, p, t: (
            f(p[0], slope),
            slope * jax.nn.sigmoid(slope * p[0]) * jax.nn.sigmoid(-slope * p[0]) * t[0],
        )
    )
    return f


def _raising() -> Any:
    @jax.custom_jvp
    def once(x: Any, t: Any) -> Any:
        return t

    @once.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        raise NotImplementedError("this surrogate has no second derivative")

    return _rounded(lambda p, t: (jnp.round(p[0]), once(p[0], t[0])))


RIGHT = {
    "custom_jvp": (_rounded(), {"forward": jnp.round, "derivative_of": lambda x: x, "args": (X,)}),
    "custom_vjp": (_backward(), {"forward": jnp.round, "derivative_of": lambda x: x, "args": (X,)}),
    "under jit": (jax.jit(_rounded()), {"forward": jnp.round, "derivative_of": lambda x: x, "args": (X,)}),
    "stop_gradient": (
        lambda x: (x - jax.lax.stop_gradient(x)) + jax.lax.stop_gradient(jnp.floor(x)),
        {"forward": jnp.floor, "derivative_of": lambda x: x, "args": (X,)},
    ),
    "a reference and a rule in numpy": (
        _rounded(), {"forward": np.round, "rule": lambda p, t: np.asarray(t[0]), "args": (X,)},
    ),
    "trees, and an integer output": (
        _pair(),
        {
            "forward": lambda tree: (jnp.round(tree["a"]) * tree["b"], jnp.sign(tree["b"]).astype(jnp.int32)),
            "derivative_of": None,
            "rule": lambda p, t: p[0]["b"] * t[0]["a"] + jnp.round(p[0]["a"]) * t[0]["b"],
            "args": ({"a": X, "b": normal(5)},),
        },
    ),
    "nondiff_argnums": (
        _sharp(), {"derivative_of": lambda x, slope: jax.nn.sigmoid(slope * x), "args": (normal(4), 5.0)},
    ),
    "no second order": (
        _raising(),
        {"forward": jnp.round, "derivative_of": lambda x: x, "args": (X,), "order2": "error", "modes": ("fwd",)},
    ),
    "many elements": (
        _rounded(), {"forward": jnp.round, "derivative_of": lambda x: x, "args": (uniform(300, low=-3, high=3),)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_surrogate_passes(name: str, contract: Any) -> None:
    function, options = RIGHT[name]
    answers = contract(function, **{k: v for k, v in options.items() if v is not None})
    assert [(o.code, f.message) for outcomes in answers.values() for o in outcomes for f in o.findings] == []
    assert answers["GRD202"][0].verdict is Verdict.PASS


def test_custom_gradient_is_a_rule_that_is_lost_at_second_order(contract: Any) -> None:
    f = jax.custom_gradient(lambda x: (jnp.round(x), lambda g: g))
    answers = contract(f, forward=jnp.round, derivative_of=lambda x: x, args=(X,))
    assert [f.code for outcomes in answers.values() for o in outcomes for f in o.findings] == ["GRD206"]
    assert answers["GRD206"][0].findings[0].verdict is Verdict.ADVICE
    claimed = contract(f, forward=jnp.round, derivative_of=lambda x: x, args=(X,), order2="zero")
    assert claimed["GRD206"][0].verdict is Verdict.FAIL


def test_an_integer_output_is_compared_too(contract: Any) -> None:
    f = jax.custom_jvp(lambda x: (jnp.round(x), jnp.floor(x).astype(jnp.int32)))

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        value = f(primals[0])
        return value, (tangents[0], np.zeros(value[1].shape, jax.dtypes.float0))

    reference = lambda x: (jnp.round(x), jnp.round(x).astype(jnp.int32))  # noqa: E731
    (outcome,) = contract(f, forward=reference, rule=lambda p, t: t[0], args=(np.array([0.7, 1.2]),))["GRD201"]
    assert "out[1]" in outcome.findings[0].message


def test_order2_error_that_does_not_raise(contract: Any) -> None:
    (outcome, *_) = contract(_rounded(), derivative_of=lambda x: x, args=(X,), order2="error")["GRD206"]
    assert "raises nothing" in outcome.findings[0].message


def test_the_note_states_the_bias(contract: Any) -> None:
    answers = contract(_rounded(), forward=jnp.round, derivative_of=lambda x: x, args=(X,))
    assert answers["GRD208"][0].note == "bias: differs from the true derivative by up to 1"


def test_an_exact_claim_of_a_flat_function_looks_like_a_surrogate(contract: Any) -> None:
    (outcome,) = contract(_rounded(), ClaimKind.EXACT, args=(X,))["GRD208"]
    assert outcome.verdict is Verdict.FAIL
    assert "looks like a surrogate" in outcome.findings[0].message


def test_an_exact_claim_of_a_wrong_rule_does_not(contract: Any) -> None:
    f = jax.custom_jvp(jnp.sin)
    f.defjvp(lambda p, t: (f(p[0]), jnp.sin(p[0]) * t[0]))
    (outcome,) = contract(f, ClaimKind.EXACT, args=(X,))["GRD208"]
    assert outcome.verdict is Verdict.PASS


def test_a_custom_rule_under_an_exact_claim_is_asked_about_linearity(contract: Any) -> None:
    f = jax.custom_vjp(jnp.sin)
    f.defvjp(lambda x: (f(x), x), lambda x, g: (jnp.clip(g, -100, 100) * jnp.cos(x),))
    answers = contract(f, ClaimKind.EXACT, args=(X,))
    assert {o.code for outcomes in answers.values() for o in outcomes if o.verdict is Verdict.FAIL} == {"GRD203"}
