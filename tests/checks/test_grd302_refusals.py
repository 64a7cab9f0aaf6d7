"""GRD302: a bad input is refused on every route, with the declared error."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal
from gradhook.checks import grd302_refusals as check
from gradhook.model.results import Verdict


def _vectors_only(x: Any) -> Any:
    if x.ndim != 1:
        raise ValueError(f"a vector is needed, not {x.ndim} axes")
    return jnp.sum(x)


@jax.custom_jvp
def _lenient_rule(x: Any) -> Any:
    return _vectors_only(x)


@_lenient_rule.defjvp
def _lenient_rule_jvp(primals: Any, tangents: Any) -> Any:
    return jnp.sum(primals[0]), jnp.sum(tangents[0])  # wrong on purpose: the rule does not refuse


BAD = np.ones((2, 2))


def test_refused_on_every_route(ask: Any) -> None:
    outcome = ask(check, _vectors_only, BAD, error=ValueError, match="vector is needed")
    assert (outcome.verdict, outcome.findings) == (Verdict.PASS, ())


@pytest.mark.parametrize("error", [(TypeError, ValueError), Exception])
def test_several_errors_and_their_bases(ask: Any, error: Any) -> None:
    assert ask(check, _vectors_only, BAD, error=error).verdict is Verdict.PASS


def test_a_rule_that_accepts_what_the_function_refuses(ask: Any) -> None:
    findings = ask(check, lambda x: _lenient_rule(x), BAD, error=ValueError).findings
    assert [f.message for f in findings] == [
        "under forward mode: expected ValueError, got no error",
        "under reverse mode: expected ValueError, got no error",
    ]


@pytest.mark.parametrize("modes, routes", [(("fwd",), 2), (("rev",), 2), (None, 3)])
def test_nothing_is_refused(ask: Any, modes: Any, routes: int) -> None:
    findings = ask(check, jnp.sum, BAD, error=ValueError, modes=modes).findings
    assert len(findings) == routes and all("got no error" in f.message for f in findings)


@pytest.mark.parametrize(
    "said, words",
    [
        ({"error": TypeError}, "expected TypeError, got ValueError: a vector is needed, not 2 axes"),
        ({"error": ValueError, "match": "matrix"}, "expected ValueError matching 'matrix', got ValueError"),
        ({"error": (TypeError, KeyError)}, "expected TypeError/KeyError, got ValueError"),
    ],
)
def test_another_error(ask: Any, said: Any, words: str) -> None:
    outcome = ask(check, _vectors_only, BAD, **said)
    assert outcome.verdict is Verdict.FAIL and words in outcome.findings[0].message


def test_nothing_must_be_refused(ask: Any) -> None:
    assert ask(check, _vectors_only, normal(2)).verdict is Verdict.SKIP
