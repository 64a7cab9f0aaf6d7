"""Advice under its setting, and under wishes for silence."""

from __future__ import annotations

import pytest

from gradhook.model.results import Finding, Verdict

from .conftest import Hearing, answer

LOST = Finding("GRD206", Verdict.ADVICE, "lost at second order", path="m.py", line=5, help="return f(x)")
WRONG = Finding("GRD101", Verdict.FAIL, "wrong", path="m.py", line=5)
F = "@gradcheck(args=(1.0,)){}\ndef f(x):\n    return x\n"


@pytest.mark.parametrize(
    ("said", "verdict", "found"),
    [
        ("", Verdict.PASS, [Verdict.ADVICE]),
        ("advice = 'error'", Verdict.FAIL, [Verdict.FAIL]),
        ("advice = 'ignore'", Verdict.PASS, []),
        ("advice = {GRD206 = 'error'}", Verdict.FAIL, [Verdict.FAIL]),
        ("advice = {default = 'error', GRD2 = 'warn'}", Verdict.PASS, [Verdict.ADVICE]),
        ("advice = {GRD2 = 'error', GRD206 = 'ignore'}", Verdict.PASS, []),
    ],
)
def test_the_level_decides(hearing: Hearing, said: str, verdict: Verdict, found: list[Verdict]) -> None:
    heard = hearing(F.format(""), answer(LOST), f"[tool.gradhook]\n{said}\n")
    (report,) = heard.targets
    assert (report.verdict, [f.verdict for f in report.findings]) == (verdict, found)
    assert [i.by for i in heard.ignored] == ([] if found else ["advice (pyproject.toml)"])
    assert report.outcomes[-1].verdict is verdict


def test_a_failure_by_the_setting_says_so(hearing: Hearing) -> None:
    (report,) = hearing(F.format(""), answer(LOST), "[tool.gradhook]\nadvice = 'error'\n").targets
    assert report.findings[0].help == "return f(x); advice, which counts as an error by pyproject.toml"


def test_a_comment_silences_advice_and_the_pass_stays(hearing: Hearing) -> None:
    heard = hearing(F.format("  # gradhook: ignore[GRD206]"), answer(LOST))
    assert [(r.verdict, r.findings) for r in heard.targets] == [(Verdict.PASS, ())]
    assert [(i.code, i.verdict) for i in heard.ignored] == [("GRD206", Verdict.ADVICE)]


def test_a_failure_stays_one(hearing: Hearing) -> None:
    (report,) = hearing(F.format(""), answer(LOST, WRONG)).targets
    assert report.verdict is Verdict.FAIL
    assert [f.verdict for f in report.findings] == [Verdict.FAIL, Verdict.ADVICE]
