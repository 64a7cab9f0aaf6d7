"""Who can silence a finding, what cannot be silenced, and what is left of the verdict?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradhook.config import load
from gradhook.model.results import Finding, Outcome, TargetReport, Verdict
from gradhook.projects.suppressions import apply_suppressions
from gradhook.scan import scan

from .conftest import HEAD, Hearing, answer

NARROW = Finding("GRD406", Verdict.UNDECIDED, "narrow", path="m.py", line=7)
WRONG = Finding("GRD101", Verdict.FAIL, "wrong", path="m.py", line=5)
F = "@gradcheck(args=(1.0,)){}\ndef f(x):{}\n    y = x\n    return y{}\n"
"""Decorator on line 4, def on 5, the finding on 7."""


def comment(codes: str = "GRD406") -> str:
    return f"  # gradhook: ignore[{codes}]"


@pytest.mark.parametrize(
    ("text", "line"),
    [((comment(), "", ""), 4), (("", comment("grd406"), ""), 5), (("", "", comment("GRD1, GRD40")), 7)],
)
def test_a_comment_on_the_decorator_the_def_or_the_line_of_the_finding(
    hearing: Hearing, text: tuple[str, ...], line: int
) -> None:
    heard = hearing(F.format(*text), answer(NARROW))
    (report,) = heard.targets
    assert (report.verdict, report.resolution) == (Verdict.SKIP, 1e-9)
    assert [(f.verdict, f.message) for f in report.findings] == [
        (Verdict.SKIP, "ignored: nothing is said about the derivative")
    ]
    assert report.outcomes[1] == Outcome("GRD101", Verdict.SKIP, "args", note="GRD406 ignored")
    (ignored,) = heard.ignored
    assert (ignored.code, ignored.by, ignored.verdict) == ("GRD406", f"comment m.py:{line}", Verdict.UNDECIDED)
    assert (ignored.path, ignored.line, ignored.target, ignored.case) == ("m.py", 7, "m:f", None)


@pytest.mark.parametrize(
    "text",
    [
        F.format("", "", "") + "# gradhook: ignore[GRD406]\n",
        F.format(comment("GRD405"), "", ""),
        F.format("  # gradhook: ignore", "", ""),
        F.format("", "", "; '# gradhook: ignore[GRD406]'"),
        F.format(comment("GRD"), "", ""),
    ],
    ids=["elsewhere", "another code", "bare", "in a string", "all codes"],
)
def test_what_silences_nothing(hearing: Hearing, text: str) -> None:
    heard = hearing(text, answer(NARROW))
    assert [r.verdict for r in heard.targets] == [Verdict.UNDECIDED]
    assert heard.ignored == ()


def test_a_comment_in_the_helper_that_a_finding_points_into(hearing: Hearing, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("x = 1\ny = 2  # gradhook: ignore[GRD406]\n", encoding="utf-8")
    there = Finding("GRD406", Verdict.UNDECIDED, "narrow", path="helper.py", line=2)
    heard = hearing(F.format("", "", ""), answer(there))
    assert [item.by for item in heard.ignored] == ["comment helper.py:2"]


def test_a_helper_is_read_anew_by_each_run(hearing: Hearing, tmp_path: Path) -> None:
    there = Finding("GRD406", Verdict.UNDECIDED, "narrow", path="helper.py", line=1)
    for text, count in (("x = 1\n", 0), ("x = 1  # gradhook: ignore[GRD406]\n", 1)):
        (tmp_path / "helper.py").write_text(text, encoding="utf-8")
        assert len(hearing(F.format("", "", ""), answer(there)).ignored) == count


SETTINGS = {
    "for all": ("[tool.gradhook]\nignore = ['GRD4']\n", "ignore (pyproject.toml)"),
    "for the file": (
        "[tool.gradhook.per-file-ignores]\n'm.*' = ['GRD406']\n",
        "per-file-ignores 'm.*' (pyproject.toml)",
    ),
    "for another file": ("[tool.gradhook.per-file-ignores]\n'n.py' = ['GRD406']\n", None),
    "for another code": ("[tool.gradhook]\nignore = ['GRD405']\n", None),
}


@pytest.mark.parametrize(("toml", "by"), SETTINGS.values(), ids=SETTINGS)
def test_settings(hearing: Hearing, toml: str, by: str | None) -> None:
    heard = hearing(F.format("", "", ""), answer(NARROW), toml)
    assert [item.by for item in heard.ignored] == ([by] if by else [])
    assert heard.targets[0].verdict is (Verdict.SKIP if by else Verdict.UNDECIDED)


def test_a_pass_of_another_case_stands(hearing: Hearing) -> None:
    passed = Finding("GRD405", Verdict.PASS, "another case")
    heard = hearing(F.format(comment(), "", ""), answer(NARROW, passed))
    assert heard.targets[0].verdict is Verdict.PASS


def test_the_annotation(hearing: Hearing) -> None:
    heard = hearing(F.format("", "", ""), answer(NARROW, WRONG, ignore=("GRD40",)))
    assert [item.by for item in heard.ignored] == ["ignore= of the annotation"]
    assert [f.code for f in heard.targets[0].findings] == ["GRD101"]
    assert heard.targets[0].verdict is Verdict.FAIL


def test_the_nearest_wish_is_named(hearing: Hearing) -> None:
    heard = hearing(F.format(comment(), "", ""), answer(NARROW, ignore=("GRD4",)), SETTINGS["for all"][0])
    assert [item.by for item in heard.ignored] == ["comment m.py:4"]


@pytest.mark.parametrize("code", ["GRD901", "GRD909"])
def test_what_could_not_run_cannot_be_ignored(hearing: Hearing, code: str) -> None:
    broken = Finding(code, Verdict.ERROR, "broken", path="m.py", line=4)
    toml = "[tool.gradhook]\nignore = ['GRD']\nselect = ['GRD1']\n"
    heard = hearing(F.format(comment(code), "", ""), answer(broken, ignore=(code,)), toml)
    assert ([r.verdict for r in heard.targets], heard.ignored) == ([Verdict.ERROR], ())


def test_what_nobody_selected_is_not_counted_as_ignored(hearing: Hearing) -> None:
    heard = hearing(F.format("", "", ""), answer(NARROW), "[tool.gradhook]\nselect = ['GRD10']\n")
    assert (heard.targets[0].verdict, heard.targets[0].findings, heard.ignored) == (Verdict.PASS, (), ())
    assert heard.targets[0].outcomes[1].note == "GRD406 was left out by select"


def test_a_target_of_which_nothing_is_left_does_not_pass(hearing: Hearing) -> None:
    heard = hearing(F.format("", "", ""), answer(WRONG), "[tool.gradhook]\nselect = ['GRD2']\n")
    (report,) = heard.targets
    assert (report.verdict, report.resolution) == (Verdict.UNDECIDED, None)
    assert [(f.code, f.message) for f in report.findings] == [
        ("GRD410", "nothing was tested: GRD105 was left out by select; GRD101 was left out by select")
    ]


def test_an_annotation_that_cannot_be_reached_and_need_not_be(hearing: Hearing) -> None:
    lost = Finding("GRD502", Verdict.ERROR, "lost", path="m.py", line=5)
    text = "def make():\n    @gradcheck()  # gradhook: ignore[GRD502]\n    def f(x): ...\n"
    heard = hearing(text, lambda target: TargetReport(target, Verdict.ERROR, findings=(lost,)))
    assert (heard.targets[0].verdict, [item.code for item in heard.ignored]) == (Verdict.SKIP, ["GRD502"])


def test_nothing_is_touched_where_nobody_says_anything(hearing: Hearing) -> None:
    reports: list[TargetReport] = []

    def about(target: Any) -> TargetReport:
        reports.append(answer(NARROW)(target))
        return reports[-1]

    assert hearing(F.format("", "", ""), about).targets[0] is reports[0]


def test_patterns_of_a_file_around_the_project_start_at_the_file(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "gradhook.toml").write_text("[per-file-ignores]\n'one/m.py' = ['GRD406']\n", encoding="utf-8")
    inner = tmp_path / "one"
    inner.mkdir()
    (inner / "pyproject.toml").touch()
    (inner / "m.py").write_text(HEAD + F.format("", "", ""), encoding="utf-8")
    found = scan(inner, [inner])
    heard = apply_suppressions(load(inner, {}, {}), found, [answer(NARROW)(t) for t in found.targets], whole=True)
    assert [item.code for item in heard.ignored] == ["GRD406"]
