"""What one annotation is weaker than the one before it."""

from __future__ import annotations

from typing import Any

import pytest

F = "def f(x, y=1.0):\n    return x\n"


def annotated(options: str, kind: str = "gradcheck") -> str:
    given = options if "args=" in options else f"args=(), {options}"
    return f"@{kind}({given}\n)\n{F}"


@pytest.mark.parametrize(
    "before, now, expected",
    [
        ("rtol=1e-6", "rtol=1e-2", "rtol weakened: 1e-06 -> 0.01"),
        ("args=()", "args=(), rtol=1e-2", "rtol weakened: 2e-10 (default) -> 0.01"),
        ("atol=1e-6", "atol=1e300", "atol weakened: 1e-06 -> 1e+300"),
        ("rtol=1e-6", "rtol=TOLERANCE", "rtol changed: 1e-06 -> TOLERANCE"),
        ("rtol=1e-6", "rtol=float('inf')", "rtol changed: 1e-06 -> float('inf')"),
        ("rtol=1e-6", "rtol=1e999 - 1e999", "rtol changed: 1e-06 -> 1e309 - 1e309"),
        ("order=2", "order=1", "order weakened: 2 -> 1"),
        ("order=2", "args=()", "order weakened: 2 -> 1 (default)"),
        ("modes=('fwd', 'rev')", "modes=('rev',)", "modes weakened: ('fwd', 'rev') -> ('rev',)"),
        ("modes=('fwd', 'rev')", "args=()", "modes weakened: ('fwd', 'rev') -> "),
        ("args=()", "modes=['rev']", "modes weakened:  -> ['rev']"),
        ("modes=('fwd', 'rev')", "modes=MODES", "modes changed: ('fwd', 'rev') -> MODES"),
        ("args=()", "eps=1e-3", "eps weakened:  -> 0.001"),
        ("eps=1e-3", "eps=1e-1", "eps changed: 0.001 -> 0.1"),
        ("args=()", "wrt=(0,)", "wrt weakened:  -> (0,)"),
        ("wrt=(0, 1)", "wrt=0", "wrt weakened: (0, 1) -> 0"),
        ("wrt=(0,)", "wrt=(1,)", "wrt changed: (0,) -> (1,)"),
        (
            "dtypes=('bfloat16', 'float16')",
            "dtypes=('bfloat16',)",
            "dtypes weakened: ('bfloat16', 'float16') -> ('bfloat16',)",
        ),
        ("dtypes='bfloat16'", "args=()", "dtypes weakened: 'bfloat16' -> "),
        ("shapes='any'", "args=()", "shapes weakened: 'any' -> "),
        ("args=()", "kink='left'", "kink weakened:  -> 'left'"),
        ("kink='left'", "kink='subgradient'", "kink weakened: 'left' -> 'subgradient'"),
        ("kink='left'", "kink='right'", "kink changed: 'left' -> 'right'"),
        ("args=()", "stop_gradient='frozen'", "stop_gradient weakened:  -> 'frozen'"),
        ("exact=jnp.cos", "args=()", "exact weakened: jnp.cos -> "),
        ("exact=jnp.cos", "exact=jax.grad(f)", "exact changed: jnp.cos -> jax.grad(f)"),
        ("args=(normal(3),)", "args=(zeros(3),)", "args changed: (normal(3),) -> (zeros(3),)"),
        ("cases={'a': (1,), 'b': (2,)}", "cases={'b': (2,)}", "cases['a'] weakened: (1,) -> "),
        ("cases={'a': (1,)}", "args=()", "cases['a'] weakened: (1,) -> "),
        ("cases={'a': (1,)}", "cases={'a': (2,)}", "cases['a'] changed: (1,) -> (2,)"),
        ("cases={'a': (1,)}", "cases=CASES", "cases changed: {'a': (1,)} -> CASES"),
        ("cases=CASES", "args=()", "cases weakened: CASES -> "),
        ("cases={'a': case(1)}", "cases={'a': case(1, kink='left')}", "cases['a'] kink weakened:  -> 'left'"),
        ("cases={'a': case(1, value=2)}", "cases={'a': case(1)}", "cases['a'] value weakened: 2 -> "),
        ("cases={'a': case(1, value=2)}", "cases={'a': case(1, value=3)}", "cases['a'] value changed: 2 -> 3"),
        ("cases={'a': case(1)}", "cases={'a': case(2)}", "cases['a'] changed: case(1) -> case(2)"),
        ("cases={'a': raises(E, 1)}", "cases={'a': case(1)}", "cases['a'] changed: raises(E, 1) -> case(1)"),
        ("**SAME", "**OTHER", "**SAME weakened: SAME -> "),
        ("args=()", "ignore=['GRD1']", "ignore weakened:  -> ['GRD1']"),
    ],
)
def test_less(branch: Any, before: str, now: str, expected: str) -> None:
    assert branch.between(annotated(before), annotated(now)) == [f"m:f {expected}"]


@pytest.mark.parametrize(
    "before, now",
    [
        ("rtol=1e-2", "rtol=1e-6"),
        ("rtol=1e-2", "args=()"),
        ("args=()", "rtol=1e-12"),
        ("order=1", "order=2"),
        ("modes=('rev',)", "modes=('rev', 'fwd')"),
        ("modes=('fwd', 'rev')", "modes=['rev', 'fwd']"),
        ("args=()", "modes=('fwd', 'rev')"),
        ("eps=1e-3", "args=()"),
        ("wrt=0", "wrt=(0, 1)"),
        ("wrt=0", "args=()"),
        ("kink='left'", "args=()"),
        ("args=()", "exact=jnp.cos"),
        ("cases={'a': (1,)}", "cases={'b': (2,), 'a': (1,)}"),
        ("cases={'a': case(1, kink='left')}", "cases={'a': case(1, value=1)}"),
        ("args=()", "cases={'a': (1,)}"),
        ("args=(1,  2)", "args=(1, 2)  # a comment"),
    ],
)
def test_no_less(branch: Any, before: str, now: str) -> None:
    assert branch.between(annotated(before), annotated(now)) == []


@pytest.mark.parametrize(
    "before, now, expected",
    [
        ("forward=a, derivative_of=b, ties='even'", "forward=a, derivative_of=b", "ties weakened: 'even' -> "),
        ("forward=a, derivative_of=b", "forward=c, derivative_of=b", "forward changed: a -> c"),
        ("forward=a, order2='zero'", "forward=a, order2='error'", "order2 changed: 'zero' -> 'error'"),
    ],
)
def test_surrogates(branch: Any, before: str, now: str, expected: str) -> None:
    assert branch.between(annotated(before, "surrogate"), annotated(now, "surrogate")) == [f"m:f {expected}"]


def test_an_exact_claim_becomes_a_surrogate(branch: Any) -> None:
    said = branch.between(annotated("args=()"), annotated("args=(), forward=a, rule=b", "surrogate"))
    assert said == ["m:f claim weakened: @gradcheck -> @surrogate"]


def test_the_default_is_the_configuration_s(branch: Any) -> None:
    branch.write("pyproject.toml", "[tool.gradhook]\nrtol = 1e-3\norder = 2\n")
    assert branch.between(annotated("args=()"), annotated("rtol=1e-4, order=1")) == [
        "m:f order weakened: 2 (default) -> 1"
    ]
