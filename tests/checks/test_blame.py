"""The user's line is named first, before other people's code; a solver's tolerance is called that."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.checks import grd101_forward, grd102_reverse, grd104_primal_code
from gradhook.checks import grd110_faulty_rule as check
from gradhook.comparison.messages import SOLVER, solver_help
from gradhook.comparison.probe import CustomRuleUse
from gradhook.model.results import Verdict

LIBRARY = """
import functools
import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnums=(0, 2))
def fixed_point(function, parameter, tolerance):
    return _solve(function, tolerance, parameter)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _solve(function, tolerance, parameter):
    def step(state):
        y, _ = state
        new = function(y, parameter)
        return new, jnp.abs(new - y) > tolerance

    return jax.lax.while_loop(lambda state: state[1], step, (jnp.zeros_like(parameter), True))[0]


@_solve.defjvp
def _implicit(function, tolerance, primals, tangents):
    (parameter,), (tangent,) = primals, tangents
    y = _solve(function, tolerance, parameter)
    by_y, by_parameter = jax.grad(function, (0, 1))(y, parameter)
    return y, tangent * by_parameter / (1 - by_y)


@jax.custom_jvp
def wrong(x):
    return x * x


wrong.defjvps(lambda tangent, _, x: x * tangent)


def fail(x):
    raise ValueError("first words\\n\\n" + "and many more " * 40 + "last words")
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A library that is installed, as its path says."""
    site = tmp_path_factory.mktemp("env") / "site-packages"
    (site / "solvers_of_others").mkdir(parents=True)
    (site / "solvers_of_others" / "__init__.py").write_text("")
    (site / "solvers_of_others" / "fixed.py").write_text(LIBRARY)
    sys.path.insert(0, str(site))
    try:
        yield importlib.import_module("solvers_of_others.fixed")
    finally:
        sys.path.remove(str(site))


def _line(text: str) -> int:
    """The line of this file that holds a mark."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {text}"))


def test_a_loose_solver_is_the_solver_s_tolerance(ask: Any, library: Any) -> None:
    def loose(a: Any) -> Any:
        return library.fixed_point(lambda y, a: 0.5 * jnp.cos(y) * a, a, 1e-2)  # the use of the solver

    (first,) = ask(grd101_forward, loose, 1.3).findings
    assert first.verdict is Verdict.FAIL and "tighten the solver's tolerance" in first.help
    (finding,) = ask(check, loose, 1.3).findings
    assert (finding.path, finding.line) == (__file__, _line("the use of the solver"))
    used = f"solvers_of_others/fixed.py:12, used at test_blame.py:{finding.line}"
    start = (
        f"the custom_jvp rule of `_solve` at {used}, differentiates the solution, the value is where its solver stops"
    )
    assert finding.message.startswith(start) and "tighten the solver's tolerance" in finding.help
    assert "by hand" not in finding.help


def test_a_tight_solver_is_no_excuse(ask: Any, library: Any) -> None:
    def doubled(a: Any) -> Any:
        return library.wrong(library.fixed_point(lambda y, a: 0.5 * jnp.cos(y) * a, a, 1e-14))  # the use of a rule

    (finding,) = ask(check, doubled, 1.3).findings
    assert (finding.path, finding.line) == (__file__, _line("the use of a rule"))
    assert "`wrong` at solvers_of_others/fixed.py:30, used at test_blame.py" in finding.message
    assert "is to blame" in finding.message and "by hand" in finding.help
    (first,) = ask(grd101_forward, doubled, 1.3).findings
    assert "check the rule" in first.help and first.fault == "half of what it should be"


def test_what_raises_in_a_library_stands_at_the_user_s_call_and_is_not_cut(ask: Any, library: Any) -> None:
    @jax.custom_jvp
    def failing(x: Any) -> Any:
        return jnp.sin(x)

    @failing.defjvp
    def _rule(primals: Any, tangents: Any) -> Any:
        return failing(*primals), library.fail(*tangents)  # the call of what raises

    (finding,) = ask(grd101_forward, failing, 1.0).findings
    assert (finding.path, finding.line) == (__file__, _line("the call of what raises"))
    assert finding.message.startswith("forward mode raises ValueError: first words and many more")
    assert finding.message.endswith("and many more last words")


def test_equinox_rules_have_the_name_of_the_user_s_function(ask: Any) -> None:
    eqx = pytest.importorskip("equinox", reason="the test extra installs it")

    @eqx.filter_custom_vjp
    def scaled(signal: Any, factor: Any) -> Any:
        return jnp.sum(jnp.sin(signal)) * factor

    scaled.def_fwd(lambda perturbed, signal, factor: (scaled(signal, factor), None))
    scaled.def_bwd(lambda residuals, g, perturbed, signal, factor: 2 * g * factor * jnp.cos(signal))
    code = scaled.fn.__code__
    x = np.array([0.3, -1.2, 0.5])

    (finding,) = ask(check, lambda weights: scaled(weights, 3.0) ** 2, x, modes=("rev",)).findings
    assert (finding.path, finding.line, finding.leaf) == (__file__, code.co_firstlineno, "weights")
    assert f"the custom_vjp rule of `scaled` at test_blame.py:{code.co_firstlineno} is to blame" in finding.message

    (first,) = ask(grd102_reverse, scaled, x, 3.0, modes=("rev",), wrt=(0,)).findings
    assert (first.leaf, first.fault) == ("signal", "2 times too large in all 3 elements")
    (second,) = ask(grd104_primal_code, scaled, x, 3.0, modes=("rev",), wrt=(0,)).findings
    assert "by the rule of `scaled`" in second.message and second.line == code.co_firstlineno


def test_equinox_forward_rules_too(ask: Any) -> None:
    eqx = pytest.importorskip("equinox", reason="the test extra installs it")

    @eqx.filter_custom_jvp
    def tripled(x: Any) -> Any:
        return jnp.sin(x)

    tripled.def_jvp(lambda primals, tangents: (jnp.sin(primals[0]), 3 * jnp.cos(primals[0]) * tangents[0]))
    (finding,) = ask(check, lambda x: tripled(x) ** 2, 0.7).findings
    assert "`tripled` at test_blame.py" in finding.message and finding.path == __file__


def test_an_adjoint_that_is_inexact_by_design_is_named() -> None:
    backsolve = CustomRuleUse(
        "custom_vjp", "_loop_backsolve", "/env/site-packages/diffrax/_adjoint.py", 538, iterates=True
    )
    assert "BacksolveAdjoint" in solver_help(backsolve) and "RecursiveCheckpointAdjoint" in solver_help(backsolve)
    other = CustomRuleUse("custom_jvp", "_implicit_impl", "/env/site-packages/optimistix/_ad.py", 64, iterates=True)
    assert solver_help(other) == SOLVER
