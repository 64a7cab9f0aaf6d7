"""GRD202: a surrogate's derivative is the declared one, in each mode."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, uniform
from gradhook.checks import grd202_tangent as check
from gradhook.model.results import Verdict

X = np.array([0.5, -0.2, 1.7])


def _spike(scale: float, mask: Any = None) -> Any:
    """A step whose slope is that of ``scale`` times tanh, inside ``mask``."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.heaviside(x, 0.0)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        x = primals[0]
        slope = scale / jnp.cosh(x) ** 2 * (1.0 if mask is None else mask(x))
        return f(x), slope * tangents[0]

    return lambda x: f(x)


def _declared(primals: Any, tangents: Any) -> Any:
    return tangents[0] / jnp.cosh(primals[0]) ** 2


DECLARATIONS = [{"derivative_of": jnp.tanh}, {"rule": _declared}]


@pytest.mark.parametrize("said", DECLARATIONS, ids=["function", "rule"])
def test_as_declared(ask: Any, said: Any) -> None:
    outcome = ask(check, _spike(1.0), X, **said)
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())


@pytest.mark.parametrize("said", DECLARATIONS, ids=["function", "rule"])
@pytest.mark.parametrize("mode, words", [("fwd", "jvp"), ("rev", "grad")])
def test_half_of_what_was_declared(ask: Any, said: Any, mode: str, words: str) -> None:
    (finding,) = ask(check, _spike(0.5), X, modes=(mode,), **said).findings
    assert (finding.verdict, finding.mode, finding.leaf) == (Verdict.FAIL, mode, "x")
    assert finding.message.startswith(f"{words} with respect to x[") and finding.claimed == pytest.approx(
        finding.measured / 2
    )


def test_one_element_wrong_by_a_millionth(ask: Any) -> None:
    nearly = _spike(1.0, lambda x: jnp.where(x < 0, 1 + 1e-6, 1.0))
    findings = ask(check, nearly, X, derivative_of=jnp.tanh).findings
    assert [f.mode for f in findings] == ["fwd", "rev"]
    assert {f.index for f in findings} <= {(1,), (0,)} and all(f.output == "out[1]" for f in findings)


def test_an_open_bound_for_a_closed_one(ask: Any) -> None:
    clipped = _spike(1.0, lambda x: jnp.abs(x) < 1.7)  # wrong on purpose at 1.7 itself
    closed = lambda primals, tangents: _declared(primals, tangents) * (jnp.abs(primals[0]) <= 1.7)  # noqa: E731
    findings = ask(check, clipped, X, rule=closed).findings
    assert {(f.index, f.claimed) for f in findings} == {((2,), 0.0)}


def test_nothing_was_declared(ask: Any) -> None:
    assert ask(check, _spike(1.0), X).verdict is Verdict.SKIP
    assert ask(check, _spike(1.0), X, forward=lambda x: jnp.heaviside(x, 0.0)).verdict is Verdict.SKIP


def test_a_tangent_given_with_a_case(ask: Any) -> None:
    right = 1 / np.cosh(X) ** 2
    assert ask(check, _spike(1.0), X, tangent=right).verdict is Verdict.PASS
    (forward, reverse) = ask(check, _spike(1.0), X, tangent=[right[0], right[1], 0.0]).findings
    assert forward.mode == "fwd" and "a tangent of ones" in forward.message and reverse.mode == "rev"


def test_a_mode_that_does_not_exist(ask: Any) -> None:
    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jnp.round(x)

    f.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))
    outcome = ask(check, f, X, derivative_of=lambda x: x)
    assert outcome.verdict is Verdict.PASS and "no forward rule" in outcome.note
    assert ask(check, f, X, derivative_of=lambda x: x, modes=("fwd", "rev")).verdict is Verdict.FAIL


def test_a_rule_that_raises(ask: Any) -> None:
    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.round(x)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        raise KeyError("forgotten")

    findings = ask(check, lambda x: f(x), X, derivative_of=lambda x: x).findings
    assert [f.mode for f in findings] == ["fwd", "rev"]
    assert all(f.path == __file__ and "KeyError" in f.message for f in findings)


def test_differences_of_the_function_are_no_evidence(ask: Any) -> None:
    """The function is smooth here and its true slope is 1; the declared one is 3."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return x

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return primals[0], 3 * tangents[0]

    assert ask(check, lambda x: f(x), X, derivative_of=lambda x: 3 * x).verdict is Verdict.PASS
    assert ask(check, lambda x: f(x), X, derivative_of=lambda x: x).verdict is Verdict.FAIL


def test_many_outputs(ask: Any) -> None:
    assert ask(check, _spike(1.0), normal(100), derivative_of=jnp.tanh).verdict is Verdict.PASS
    one_wrong = _spike(1.0, lambda x: jnp.ones_like(x).at[77].add(1e-6))
    findings = ask(check, one_wrong, normal(100), derivative_of=jnp.tanh).findings
    assert [f.mode for f in findings] == ["fwd", "rev"]


U = (uniform(3, low=-3, high=3), uniform(3, low=-3, high=3))
MANY = (uniform(50, low=-3, high=3), uniform(50, low=-3, high=3))


def _both(join: Any, scales: tuple[float, float], factor: float, mode: str = "fwd") -> tuple[Any, Any, Any]:
    """Two rounded arguments, the derivative of the second off by a factor; ``forward=`` and ``derivative_of=``."""

    def forward(a: Any, b: Any) -> Any:
        return join(scales[0] * jnp.round(a), scales[1] * jnp.round(b))

    def scaled(a: Any, b: Any, second: float) -> Any:
        return join(scales[0] * a, second * scales[1] * b)

    if mode == "rev":
        f = jax.custom_vjp(forward)
        back = jax.linear_transpose(lambda pair: scaled(*pair, factor), (np.zeros(50), np.zeros(50)))
        f.defvjp(lambda a, b: (f(a, b), None), lambda _, g: back(g)[0])
        return f, forward, lambda a, b: scaled(a, b, 1.0)
    f = jax.custom_jvp(forward)
    f.defjvp(lambda p, t: (f(*p), scaled(*t, factor)))
    return f, forward, lambda a, b: scaled(a, b, 1.0)


def _apart(a: Any, b: Any) -> Any:
    return a, b


def _joined(a: Any, b: Any) -> Any:
    return jnp.concatenate([a, b])


def _summed(a: Any, b: Any) -> Any:
    return jnp.sum(a) + jnp.sum(b)


@pytest.mark.parametrize(
    "join, scales, factor, args, mode",
    [
        (_apart, (1e8, 1e-6), 2.0, U, "fwd"),
        (_apart, (1e7, 1.0), 1 + 5e-6, U, "fwd"),
        (_apart, (1e3, 1e-3), 1 + 5e-7, MANY, "fwd"),
        (_joined, (1e8, 1e-6), 2.0, U, "fwd"),
        (_joined, (1e8, 1e-6), 2.0, MANY, "fwd"),
        (_joined, (1e8, 1e-6), 1 + 5e-7, MANY, "rev"),
        (_summed, (1e8, 1e-6), 2.0, MANY, "fwd"),
        (_summed, (1e8, 1e-6), 2.0, MANY, "rev"),
    ],
)
def test_each_element_on_its_own_scale(ask: Any, join: Any, scales: Any, factor: float, args: Any, mode: str) -> None:
    f, forward, other = _both(join, scales, factor, mode)
    outcome = ask(check, f, *args, forward=forward, derivative_of=other)
    assert outcome.verdict is Verdict.FAIL and {f.code for f in outcome.findings} == {"GRD202"}
    f, forward, other = _both(join, scales, 1.0, mode)
    assert ask(check, f, *args, forward=forward, derivative_of=other).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "declared, slope",
    [
        (jnp.tanh, lambda x: 1 / jnp.cosh(x) ** 2),
        (jax.nn.sigmoid, lambda x: jax.nn.sigmoid(x) * (1 - jax.nn.sigmoid(x))),
        (lambda x: x - x**2 / 2, lambda x: (x + 1) - 2 * x),
    ],
)
def test_terms_that_cancel_are_rounded_like_the_terms(ask: Any, declared: Any, slope: Any) -> None:
    f = jax.custom_jvp(jnp.round)
    f.defjvp(lambda p, t: (f(p[0]), slope(p[0]) * t[0]))
    x = np.array([1.0, 19.0, 35.0, 0.3])
    assert ask(check, f, x, derivative_of=declared).verdict is Verdict.PASS


def test_a_constant_beside_a_derivative_of_zero(ask: Any) -> None:
    f = jax.custom_jvp(jnp.round)
    f.defjvp(lambda p, t: (f(p[0]), jnp.where(p[0] > 1, 1e-20, 1.0) * t[0]))
    flat = lambda x: jnp.minimum(x, 1.0)  # noqa: E731
    assert ask(check, f, X, derivative_of=flat).verdict is Verdict.FAIL


def test_every_output_is_followed(ask: Any) -> None:
    """The second output's derivative is wrong far from the case only."""

    def forward(x: Any) -> Any:
        return jnp.round(x), jnp.cumsum(jnp.round(x))

    def twin(factor: float) -> Any:
        f = jax.custom_jvp(forward)
        f.defjvp(lambda p, t: (f(*p), (t[0], jnp.cumsum(t[0]) * jnp.where(jnp.abs(p[0]) > 2.5, factor, 1.0))))
        return f

    said = {"forward": forward, "derivative_of": lambda x: (x, jnp.cumsum(x))}
    assert ask(check, twin(1.0), X, **said).verdict is Verdict.PASS
    (finding,) = ask(check, twin(2.0), X, **said).findings
    assert finding.output == "out[1][0]"


def test_fewer_digits_in_a_rule(ask: Any) -> None:
    def cast(dtype: Any) -> Any:
        f = jax.custom_jvp(jnp.round)
        f.defjvp(lambda p, t: (f(p[0]), t[0].astype(dtype).astype(t[0].dtype)))
        return f

    verdicts = [ask(check, cast(d), X, derivative_of=lambda x: x).verdict for d in (jnp.bfloat16, jnp.float32)]
    assert verdicts == [Verdict.FAIL, Verdict.FAIL]


def test_numbers_that_differ_are_told_apart(ask: Any) -> None:
    f = jax.custom_jvp(jnp.round)
    f.defjvp(lambda p, t: (f(p[0]), (1 + 1e-11) * t[0]))
    finding = ask(check, f, X, derivative_of=lambda x: x).findings[0]
    assert "with respect to a[0] is 1.00000000001, declared 1" in finding.message
