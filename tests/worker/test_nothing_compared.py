"""A pass is a comparison of what was claimed that passed: no combination of other answers makes one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import normal, raises
from gradhook.checks import all_checks
from gradhook.execution.worker import examine as module
from gradhook.execution.worker.examine import examine
from gradhook.model.results import CheckSettings, ClaimKind, Finding, Outcome, Rule, Target, TargetReport, Verdict

PASS, SKIP, UNDECIDED = Verdict.PASS, Verdict.SKIP, Verdict.UNDECIDED
COMPARING = {"exact": ("GRD101", "GRD102"), "surrogate": ("GRD201", "GRD202")}
OTHERS = ("GRD103", "GRD105", "GRD106", "GRD203", "GRD205", "GRD303")


@dataclass(frozen=True)
class Answered:
    """A check that gives an answer which is decided beforehand, for each case."""

    code: str
    answers: dict[str, Verdict]
    APPLIES: frozenset[ClaimKind] = field(default=frozenset(ClaimKind))

    @property
    def RULE(self) -> Rule:
        return Rule(self.code, "answered", "Was this decided beforehand?")

    def run(self, probe: Any) -> Outcome:
        verdict = self.answers.get(probe.case, PASS)
        finding = Finding(self.code, verdict, "no slope", case=probe.case)
        findings = (finding,) if verdict not in (PASS, SKIP) else ()
        return Outcome(self.code, verdict, probe.case, findings, note="" if findings else "a reason")


def _examine(function: Any, kind: str = "exact", **options: Any) -> TargetReport:
    target = Target("pkg.mod", "f", "mod.py", 7, 6, ClaimKind(kind), __file__.rsplit("/", 1)[0])
    return examine(function, target, options, CheckSettings(), lambda case: None)


def _combinations() -> Iterator[tuple[str, tuple[Verdict, ...], tuple[Verdict, ...], Verdict]]:
    for kind in COMPARING:
        for comparing in product((PASS, SKIP), repeat=2):
            for others in product((PASS, SKIP), repeat=len(OTHERS)):
                for vacuous in (PASS, SKIP, UNDECIDED):
                    yield kind, comparing, others, vacuous


def test_every_combination_of_skipped_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = []
    for kind, comparing, others, vacuous in _combinations():
        given = dict(zip((*COMPARING[kind], *OTHERS, "GRD410"), (*comparing, *others, vacuous), strict=True))
        fakes = [Answered(code, {"args": verdict}) for code, verdict in given.items()]
        monkeypatch.setattr(module, "all_checks", lambda fakes=fakes: fakes)
        report = _examine(jnp.sin, kind, args=(0.5,))
        right = PASS if PASS in comparing and vacuous is not UNDECIDED else UNDECIDED
        if report.verdict is not right or (right is UNDECIDED and {f.code for f in report.findings} != {"GRD410"}):
            wrong.append((kind, given, report.verdict))
    assert not wrong


@pytest.mark.parametrize("vacuous", [PASS, SKIP, UNDECIDED])
@pytest.mark.parametrize("comparing", list(product((PASS, SKIP), repeat=2)))
@pytest.mark.parametrize("kind", list(COMPARING))
def test_a_case_that_passed_does_not_stand_for_another(
    kind: str, comparing: tuple[Verdict, Verdict], vacuous: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = dict(zip((*COMPARING[kind], "GRD410"), (*comparing, vacuous), strict=True))
    fakes = [Answered(code, {"second": verdict}) for code, verdict in given.items()]
    monkeypatch.setattr(module, "all_checks", lambda: fakes)
    report = _examine(jnp.sin, kind, args=(0.5,), cases={"second": (0.7,)})
    assert report.verdict is (PASS if PASS in comparing else UNDECIDED)


def _called_back(x: Any) -> Any:
    return x + jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def test_a_callback_without_a_derivative() -> None:
    report = _examine(_called_back, args=(normal(3),))
    assert report.verdict is UNDECIDED
    (finding,) = report.findings
    assert finding.code == "GRD410" and "a callback has no derivative rule" in finding.message


def test_a_surrogate_whose_declared_derivative_exists_in_no_mode() -> None:
    """Its value under a mode of differentiation does not exist either."""
    report = _examine(_called_back, "surrogate", args=(normal(3),), forward=_called_back, derivative_of=lambda x: x)
    assert report.verdict not in (PASS, SKIP)


def test_inputs_that_must_be_refused_are_a_claim_by_themselves() -> None:
    def f(x: Any) -> Any:
        if x.ndim != 1:
            raise ValueError("a vector is needed")
        return x * 2.0

    assert _examine(f, cases={"bad": raises(ValueError, 1.0)}).verdict is PASS
    assert _examine(f, cases={"bad": raises(ValueError, 1.0), "empty": (normal(0),)}).verdict is UNDECIDED


def test_the_codes_are_those_of_checks() -> None:
    codes = {check.RULE.code for check in all_checks()}
    assert codes >= {*OTHERS, "GRD410", *(code for several in COMPARING.values() for code in several)}
