"""Values worked out by hand or in 60 digits; that rounding is told; what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from jax import lax

from gradhook.numerics.complex_step.evaluation import ComplexStepResult, complex_step

DIGITS = 420


def witness(function: Callable[..., Any], point: Sequence[float] | float, vectors: Any = None) -> ComplexStepResult:
    """The witness for a function of a vector, along every unit vector."""
    at = np.atleast_1d(np.asarray(point, float))

    def flat(vector: Any) -> Any:
        return jnp.concatenate([jnp.ravel(jnp.asarray(leaf)) for leaf in jax.tree.leaves(function(vector))])

    with jax.enable_x64(True):
        return complex_step(jax.make_jaxpr(flat)(at), at, np.eye(len(at)) if vectors is None else vectors)


def slope(function: Callable[[Any], Any], at: float) -> Any:
    """The derivative in many digits: a central difference with a step of 1e-40 of the point."""
    with mp.workdps(DIGITS):
        h = abs(mp.mpf(at)) * mp.mpf(10) ** -40
        return (function(mp.mpf(at) + h) - function(mp.mpf(at) - h)) / (2 * h)


def is_honest(found: ComplexStepResult, truth: Any, column: int = 0) -> bool:
    """Whether the bar of an answer holds the truth."""
    with mp.workdps(DIGITS):
        off = abs(mp.mpf(float(found.value[0, column])) - truth)
        return bool(found.applicable[column]) and off <= found.error[0, column]


FUNCTIONS: list[tuple[str, Any, Any, list[float]]] = [
    ("exp", lax.exp, mp.exp, [-30, -1e-9, 0.7, 300]),
    ("exp2", lax.exp2, lambda x: mp.mpf(2) ** x, [-30, 0.3, 20]),
    ("log", lax.log, mp.log, [1e-300, 0.5, 1.0000001, 1e200]),
    ("log1p", lax.log1p, mp.log1p, [-0.9999, -1e-10, 1e-20, 5, 1e200]),
    ("expm1", lax.expm1, mp.expm1, [-40, -1e-10, 1e-20, 100]),
    ("sin", lax.sin, mp.sin, [-3, 1e-10, 1.5707963267948966, 1e10]),
    ("cos", lax.cos, mp.cos, [-3, 1e-10, 3.141592653589793, 1e10]),
    ("tan", lax.tan, mp.tan, [-3, 1e-10, 1.57079632679, 1e10]),
    ("asin", lax.asin, mp.asin, [-0.999999999, 1e-10, 0.3]),
    ("acos", lax.acos, mp.acos, [-0.999999, 1e-10, 0.3]),
    ("atan", lax.atan, mp.atan, [-1e10, 1e-10, 0.3, 1e100]),
    ("sinh", lax.sinh, mp.sinh, [-30, 1e-10, 300]),
    ("cosh", lax.cosh, mp.cosh, [-30, 1e-10, 300]),
    ("tanh", lax.tanh, mp.tanh, [-300, -1, 1e-10, 22]),
    ("asinh", lax.asinh, mp.asinh, [-1e10, 1e-10, 1e200]),
    ("acosh", lax.acosh, mp.acosh, [1.0000001, 2, 1e100]),
    ("atanh", lax.atanh, mp.atanh, [-0.99999999, 1e-10, 0.3]),
    ("logistic", lax.logistic, lambda x: 1 / (1 + mp.exp(-x)), [-300, -1, 50, 300]),
    ("sqrt", lax.sqrt, mp.sqrt, [1e-300, 0.5, 1e200]),
    ("rsqrt", lax.rsqrt, lambda x: 1 / mp.sqrt(x), [1e-150, 2, 1e200]),
    ("cbrt", lax.cbrt, mp.cbrt, [1e-10, 2]),
    ("square", lax.square, lambda x: x * x, [1e-100, -4]),
    ("cube", lambda x: x**3, lambda x: x**3, [-1e-50, 3]),
    ("inverse fifth", lambda x: x**-5, lambda x: x**-5, [-1e-50, 1e50]),
    ("quotient", lambda x: (x + 1) / (x - 3), lambda x: (x + 1) / (x - 3), [1e-10, 2.999999, 1e10]),
    ("power", lambda x: x**2.5, lambda x: x ** mp.mpf(2.5), [1e-50, 7]),
    ("exponent", lambda x: 2.5**x, lambda x: mp.mpf(2.5) ** x, [-50, 7]),
    ("both", lambda x: x**x, lambda x: x**x, [0.1, 30]),
    ("atan2", lambda x: jnp.arctan2(x, 2 * x * x - 1), lambda x: mp.atan2(x, 2 * x * x - 1), [0.1, 0.7, -3]),
    ("erf", lax.erf, mp.erf, [-5, 1e-10, 2, 20, 26]),
    ("erfc", lax.erfc, mp.erfc, [-5, 1e-10, 2, 20, 26]),
    ("erf_inv", lax.erf_inv, mp.erfinv, [-0.99, 0.5]),
    ("i0e", lax.bessel_i0e, lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), [-2, 0.5, 100]),
    ("i1e", lax.bessel_i1e, lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), [-2, 0.5, 100]),
    ("igamma", lambda x: lax.igamma(2.5, x), lambda x: mp.gammainc(2.5, 0, x, regularized=True), [0.1, 30]),
    ("igammac", lambda x: lax.igammac(2.5, x), lambda x: mp.gammainc(2.5, x, mp.inf, regularized=True), [2, 30]),
    ("betainc", lambda x: lax.betainc(2.5, 1.5, x), lambda x: mp.betainc(2.5, 1.5, 0, x, regularized=True), [0.1, 0.9]),
    ("polygamma", lambda x: lax.polygamma(2.0, x), lambda x: mp.polygamma(2, x), [0.1, 30]),
]


@pytest.mark.parametrize(("name", "function", "exact", "points"), FUNCTIONS, ids=[row[0] for row in FUNCTIONS])
def test_a_function_of_one_number(name: str, function: Any, exact: Any, points: list[float]) -> None:
    found = witness(function, points, np.ones((1, len(points))))
    for column, at in enumerate(points):
        truth = slope(exact, at)
        assert is_honest(found, truth, column), (at, found.value[0, column], truth)
        loose = {"i0e", "i1e", "quotient"}  # these cancel, and say so
        assert found.error[0, column] <= (1e-5 if name in loose else 1e-12) * abs(truth)


@pytest.mark.parametrize("at", [1e-10, 0.5, 1.0, 2.0001, 1e5])
def test_gamma(at: float) -> None:
    assert is_honest(witness(lax.lgamma, at), mp.digamma(mp.mpf(at)))
    assert is_honest(witness(lax.digamma, at), mp.psi(1, mp.mpf(at)))
    assert is_honest(witness(lax.digamma, -at - 0.25), mp.psi(1, mp.mpf(-at - 0.25)))


LONG = [float(x) for x in np.random.default_rng(1).uniform(1, 2, 1500)]
LONG += [-float(x) for x in np.random.default_rng(2).uniform(1, 2, 1500)]


def _variance(m: Any, x: Any) -> Any:
    v = [1e6 + x * (mp.mpf(t) if m is mp else t) for t in (0.1, 0.2, 0.30000001, 0.5)]
    return sum(t * t for t in v) / 4 - (sum(v) / 4) ** 2


def _chaos(m: Any, x: Any) -> Any:
    for _ in range(30):
        x = 3.9 * x * (1 - x)
    return x


def _recurrence(m: Any, x: Any) -> Any:
    y = m.log((x + 1) / x)
    for k in range(1, 12):
        y = (1 / mp.mpf(k) if m is mp else 1 / k) - x * y
    return y


def _of_vector(exact: Any, arrays: Any) -> Any:
    return lambda m, x: exact(x) if m is mp else arrays(x)


CANCELLING: list[tuple[str, Any, float]] = [
    ("softplus", lambda m, x: m.log(1 + m.exp(x)), -32.0),
    ("softplus, absorbed", lambda m, x: m.log(1 + m.exp(x)), -37.5),
    ("loss", lambda m, z: -m.log(1 - 1 / (1 + m.exp(-z))), -34.0),
    ("root", lambda m, c: (m.sqrt(1e12 - 4 * c) - 1e6) / 2, 1.0),
    ("earth", lambda m, d: m.sqrt(6.4e6**2 + d * d) - 6.4e6, 1.0),
    ("expm1", lambda m, x: m.exp(x) - 1, 1e-14),
    ("expm1 / x", lambda m, x: (m.exp(x) - 1) / x, 1e-7),
    ("expm1 / x, nearer", lambda m, x: (m.exp(x) - 1) / x, 3e-9),
    ("expm1 / x, lost", lambda m, x: (m.exp(x) - 1) / x, 1e-17),
    ("log1p / x", lambda m, x: m.log(1 + x) / x, 1e-9),
    ("roots", lambda m, x: m.sqrt(x + 1) - m.sqrt(x), 1e10),
    ("fast", lambda m, x: m.sin(1e10 * x), 0.7),
    ("versine", lambda m, x: (1 - m.cos(x)) / (x * x), 1e-4),
    ("versine, nearer", lambda m, x: (1 - m.cos(x)) / (x * x), 1e-6),
    ("expanded", lambda m, x: x**7 - 7 * x**6 + 21 * x**5 - 35 * x**4 + 35 * x**3 - 21 * x**2 + 7 * x - 1, 1.001),
    ("horner", lambda m, x: ((((((x - 7) * x + 21) * x - 35) * x + 35) * x - 21) * x + 7) * x - 1, 1.01),
    ("wilkinson", lambda m, x: x**4 - 10 * x**3 + 35 * x**2 - 50 * x + 24, 2.0000001),
    ("saturated", lambda m, x: 1 - m.tanh(x), 18.0),
    ("saturated slope", lambda m, x: 1 - m.tanh(x) ** 2, 12.0),
    ("reciprocals", lambda m, x: 1 / x - 1 / (x + 1), 1e8),
    ("logs", lambda m, x: m.log(x + 1) - m.log(x), 1e9),
    ("beside", lambda m, y: 1e10 + 1e-4 * y, 1.0),
    ("shifted", lambda m, x: (x + 1e17) - 1e17, 0.1),
    ("shifted / x", lambda m, x: ((1 + x) - 1) / x, 1e-9),
    ("shifted / x, lost", lambda m, x: ((1 + x) - 1) / x, 1e-17),
    ("x / x", lambda m, x: x * (1 / x), 0.3),
    ("log exp", lambda m, x: m.log(m.exp(x)), 30.0),
    ("exp log", lambda m, x: m.exp(m.log(x) * 20), 3.3),
    ("interest", lambda m, x: (1 + 1 / x) ** x, 1e6),
    ("interest, inverse", lambda m, x: (1 + x) ** (1 / x), 1e-5),
    ("sinc", lambda m, x: m.sin(x) / x, 1e-3),
    ("third order", lambda m, x: (m.sin(x) - x) / x**3, 1e-3),
    ("secant", lambda m, x: 1 / m.cos(x) - m.tan(x), 1.5707),
    ("hyperbolic", lambda m, x: m.cosh(x) - m.sinh(x), 15.0),
    ("arsinh", lambda m, x: m.log(x + m.sqrt(x * x + 1)), -1e4),
    ("chord", lambda m, x: m.sqrt(2 - 2 * m.sqrt(1 - x * x)), 1e-5),
    ("logit", lambda m, x: m.log(x / (1 - x)), 1 - 1e-12),
    ("entropy", lambda m, x: -x * m.log(x) - (1 - x) * m.log(1 - x), 1e-12),
    ("density", lambda m, x: m.exp(-x * x / 2) / m.sqrt(6.25), 25.0),
    ("kepler", lambda m, x: x - 0.999 * m.sin(x), 1e-6),
    ("circle", lambda m, x: m.sin(x) ** 2 + m.cos(x) ** 2, 1.3),
    ("one", lambda m, x: m.exp(x) * m.exp(-x), 5.5),
    ("log softmax", lambda m, x: m.log(m.exp(x) / (1 + m.exp(x))), 40.0),
    ("lens", lambda m, x: 1 - m.sqrt(1 - x * x), 1e-7),
    ("mach", lambda m, x: (1 + x * x / 5) ** 3.5 - 1, 1e-6),
    ("variance", _variance, 1.0),
    ("chaos", _chaos, 0.37),
    ("recurrence", _recurrence, 5.0),
    ("dot", _of_vector(
        lambda x: 1e8 * x + (x + 1) - 1e8 * (x + 2),
        lambda x: jnp.dot(jnp.array([1e8, 1.0, -1e8]), x + jnp.arange(3.0)),
    ), 0.3),
    ("long sum", _of_vector(lambda x: sum(x * mp.mpf(t) for t in LONG), lambda x: jnp.sum(x * jnp.array(LONG))), 0.3),
    ("long loop", _of_vector(
        lambda x: sum(x * mp.mpf(t) for t in LONG),
        lambda x: lax.fori_loop(0, len(LONG), lambda i, total: total + x * jnp.array(LONG)[i], x * 0),
    ), 0.3),
    ("running", _of_vector(
        lambda x: sum(x * mp.mpf(t) for t in LONG), lambda x: jnp.cumsum(x * jnp.array(LONG))[-1]
    ), 0.3),
]  # fmt: skip


@pytest.fixture(scope="module")
def bars() -> list[float]:
    """How many times the true error the bars were."""
    return []


@pytest.mark.parametrize(("name", "function", "at"), CANCELLING, ids=[row[0] for row in CANCELLING])
def test_the_bar_holds_the_truth_where_terms_cancel(name: str, function: Any, at: float, bars: list[float]) -> None:
    found, truth = witness(lambda x: function(jnp, x[0]), at), slope(lambda x: function(mp, x), at)
    assert is_honest(found, truth), (found, truth)
    with mp.workdps(DIGITS):
        off = abs(mp.mpf(float(found.value[0, 0])) - truth)
        bars.append(float(found.error[0, 0] / off) if off > 1e-250 else 1.0)


def test_the_bars_are_not_idle(bars: list[float]) -> None:
    assert len(bars) > 40 and np.median(bars) < 1e4


def _newton(x: Any) -> Any:
    return lax.while_loop(lambda s: jnp.abs(s * s - x[0]) > 1e-12, lambda s: 0.5 * (s + x[0] / s), x[0])


ARRAYS: list[tuple[str, Any, list[float]]] = [
    ("solve", lambda x: jnp.linalg.solve(x[:4].reshape(2, 2), x[4:]), [0.1, 0.2, 0.3, 0.5, 5, 6]),
    ("inverse", lambda x: jnp.linalg.inv(x.reshape(2, 2)), [0.1, 0.2, 0.3, 0.5]),
    ("determinant", lambda x: jnp.linalg.det(x.reshape(3, 3)), [0.1, 0.2, 0.3, 0.4, 5, 6, 7, 8, 1]),
    ("determinant of 4", lambda x: jnp.linalg.slogdet(x.reshape(4, 4) + 3 * jnp.eye(4))[1], [*np.sin(np.arange(16.0))]),
    ("cholesky", lambda x: jnp.linalg.cholesky(x.reshape(2, 2)), [2, 0.3, 0.4, 3]),
    ("softmax", jax.nn.softmax, [1, 2, 3]),
    ("logsumexp", jax.nn.logsumexp, [1, 2, 3]),
    ("sort", jnp.sort, [3, 1, 2]),
    ("sort by another", lambda x: lax.sort((x[:3], x[3:]), num_keys=1), [3, 1, 2, 7, 8, 9]),
    ("median", jnp.median, [3, 1, 2, 7]),
    ("top", lambda x: lax.top_k(x, 2)[0], [3, 1, 2]),
    ("max", lambda x: (x.max(), x.min(), jnp.maximum(x[0], x[1])), [3, 1, 2]),
    ("running", lambda x: (jnp.cumsum(x), jnp.cumprod(x), lax.cummax(x), lax.cumlogsumexp(x)), [1.5, 2.2, 0.7]),
    ("product", jnp.prod, [1.5, 0, 0.7]),
    ("interpolation", lambda x: jnp.interp(x, jnp.arange(5.0), jnp.arange(5.0) ** 2), [1.5, 2.2]),
    ("norm", jnp.linalg.norm, [3, 4]),
    ("convolution", lambda x: jnp.convolve(x[:3], x[3:]), [1, 2, 3, 4, 5]),
    ("matrix product", lambda x: x.reshape(2, 2) @ x.reshape(2, 2).T, [1, 2, 3, 4]),
    ("spectrum", lambda x: jnp.abs(jnp.fft.rfft(x)) ** 2, [3, 4, 5, 1]),
    ("scatter", lambda x: jnp.zeros(4).at[jnp.array([1, 1, 2])].add(x), [3, 4, 5]),
    ("gather", lambda x: x[jnp.array([1, 1, 2])] * x[::-1], [3, 4, 5]),
    ("window", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2,), (1,), "VALID"), [3, 4, 2]),
    ("clip", lambda x: jnp.clip(x, 1.0, x[2]), [0.5, 4, 2.5]),
    ("remainder", lambda x: (x[0] % x[1], jnp.fmod(-x[0], x[1])), [7.5, 2.1]),
    ("steps", lambda x: (x * jnp.floor(x), jnp.sign(x) * x, jnp.round(x)), [1.3, -2.7]),
    ("where", lambda x: jnp.where(x > 0, x**2, -x), [1.3, -2.7]),
    ("for", lambda x: lax.fori_loop(0, 5, lambda i, c: jnp.sin(c) * x[0] + i, x), [1, 2]),
    ("scan", lambda x: lax.scan(lambda c, y: (c * y, c + y), x[0], x, reverse=True), [1, 2, 3]),
    ("cond", lambda x: lax.cond(x[0] > 0, lambda a: a**2, lambda a: a * 0 + 1.0, x), [2, 3]),
    ("switch", lambda x: lax.switch(jnp.int32(x[0]), [jnp.sin, jnp.cos, jnp.exp], x[1]), [1.5, 3]),
    ("while", lambda x: lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * x[0]), (0, x[1])), [2, 3]),
    ("checkpoint", jax.checkpoint(lambda x: jnp.tanh(x @ x)), [0.2, 0.3]),
    ("vmap", jax.vmap(lambda x: lax.cond(x > 2, jnp.sin, jnp.cos, x)), [1, 2.5]),
    ("gradient", jax.grad(lambda x: jnp.sum(jnp.cumprod(x) ** 2 / x.max())), [1.5, 2.2, 0.7]),
    ("gradient of a loop", jax.grad(lambda x: lax.scan(lambda c, y: (jnp.sin(c * y), None), x[0], x)[0]), [1, 2, 3]),
    ("gradient of a solve", jax.grad(lambda x: jnp.linalg.solve(x[:4].reshape(2, 2), x[4:])[0]), [1, 2, 3, 5, 5, 6]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "function", "point"), ARRAYS, ids=[row[0] for row in ARRAYS])
def test_programs_of_arrays_agree_with_the_rules_of_jax(name: str, function: Any, point: list[float]) -> None:
    found = witness(function, point)

    def flat(vector: Any) -> Any:
        leaves = [jnp.asarray(leaf, float) for leaf in jax.tree.leaves(function(vector))]
        return jnp.concatenate([jnp.ravel(leaf) for leaf in leaves])

    with jax.enable_x64(True):
        truth = np.asarray(jax.jacfwd(flat)(jnp.asarray(point, float))).T
    assert found.applicable.all() and found.reason == ""
    assert (np.abs(found.value - truth) <= found.error + 1e-14 * np.abs(truth)).all()
    assert (found.error <= 1e-9 * np.abs(truth).max()).all()


def test_custom_rules_and_stop_gradient_are_looked_through() -> None:
    @jax.custom_jvp
    def cube(x: Any) -> Any:
        return x**3

    cube.defjvp(lambda primals, tangents: (primals[0] ** 3, 7 * tangents[0]))

    @jax.custom_vjp
    def square(x: Any) -> Any:
        return x**2

    square.defvjp(lambda x: (x**2, None), lambda _, g: (5 * g,))
    found = witness(lambda x: (jax.jit(cube)(x), square(x), lax.stop_gradient(x) ** 2), 3.0)
    assert found.value.tolist() == [[27.0, 6.0, 6.0]]


def test_what_is_not_known_is_named_and_only_what_depends_on_it_is_lost() -> None:
    found = witness(lambda x: (jnp.linalg.eigvalsh(x[:4].reshape(2, 2)), jnp.sin(x[4])), [2, 1, 1, 3, 0.5])
    assert found.applicable.tolist() == [False, False, True]
    assert found.reason.startswith("eigh at test_complex_step.py:")
    assert found.value[4, 2] == pytest.approx(np.cos(0.5))


def _called_back(x: Any) -> Any:
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((1,), np.float64), x)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (_newton, "while"),
        (_called_back, "pure_callback"),
        (lambda x: x.astype(jnp.float32).astype(float), "convert_element_type"),
        (lambda x: jnp.linalg.qr(x.reshape(1, 1))[1], ""),
    ],
    ids=["tolerance", "callback", "narrow", "qr"],
)
def test_reasons(function: Any, reason: str) -> None:
    found = witness(function, 3.0)
    assert not found.applicable.any() and found.reason.startswith(reason) and found.reason


@pytest.mark.parametrize(
    "function",
    [
        jnp.abs,
        jax.nn.relu,
        jnp.sign,
        jnp.floor,
        lambda x: jnp.linalg.norm(x),
        lambda x: jnp.where(x == 0, 1.0, jnp.cos(x) * 3),
        lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
        lambda x: jnp.max(jnp.stack([x, -x])),
        lambda x: jnp.sort(jnp.stack([x[0], -x[0]])),
        lambda x: x * (x > 0) + 1,
        jnp.sqrt,
    ],
)
def test_no_derivative_is_told_at_a_kink_or_jump(function: Any) -> None:
    found = witness(function, 0.0)
    assert not found.applicable.any() and found.reason == "kink, tie, jump or pole at the point"


def test_directions_are_kept_apart() -> None:
    found = witness(lambda x: (x[0] * x[1], x[1] ** 2), [2, 3], np.array([[1.0, 0], [0, 1], [0.3, -2]]))
    assert found.value == pytest.approx(np.array([[3, 0], [2, 6], [0.9 - 4, -12]]))
