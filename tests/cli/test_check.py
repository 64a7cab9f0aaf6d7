"""Does ``gradhook check`` ask for the right things and show them in the right place?"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from gradhook.cli.display import path_from
from gradhook.cli.output import shows_progress, uses_color


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("verdicts")
def test_the_screen(gradhook, project) -> None:
    project("good", "bad")
    said = gradhook("check")
    assert said.err == ""
    assert said.out == (
        "m.py\n"
        "  FAIL      bad   GRD101 bad is fail\n"
        "                  m.py:7\n"
        "                  rerun: gradhook check m.py -k m:bad\n"
        "  pass      good  nothing compared\n"
        "\n"
        "1 failed, 1 passed in 1.0 s\n"
        "rtol 2e-10 · atol 0 · seed 0\n"
    )


@pytest.mark.usefixtures("verdicts")
def test_nothing_annotated(gradhook, project) -> None:
    project()
    assert gradhook("check").out == "no annotated functions in 1 file\n"


def test_k_chooses_targets(gradhook, project, verdicts: list[str]) -> None:
    project("good", "good_too", "bad")
    gradhook("check", "-k", "m:good")
    assert verdicts == ["good", "good_too"]


@pytest.mark.parametrize(
    ("names", "expected"), [(["good", "m:bad"], ["good", "good_too", "bad"]), (["m:bad", "bad"], ["bad"])]
)
def test_every_k_counts(gradhook, project, verdicts: list[str], names: list[str], expected: list[str]) -> None:
    project("good", "good_too", "kink", "bad")
    said = gradhook("check", *(word for name in names for word in ("-k", name)))
    assert verdicts == expected
    assert f"{len(expected) - 1} passed" in said.out or expected == ["bad"]


@pytest.mark.usefixtures("verdicts")
def test_paths_start_where_the_user_is(gradhook, project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inner = project("bad", where="packages/a")
    assert gradhook("check", "--output-format", "concise").out == ("packages/a/m.py:7: GRD101 fail m:bad bad is fail\n")
    (inner / "docs").mkdir()
    monkeypatch.chdir(inner / "docs")
    assert gradhook("check", "..", "--output-format", "concise").out == "../m.py:7: GRD101 fail m:bad bad is fail\n"


@pytest.mark.parametrize(
    ("path", "root", "shown"),
    [
        ("m.py", "/w", "m.py"), ("m.py", "/w/a", "a/m.py"), ("m.py", "/", "../m.py"), ("/lib/x.py", "/w", "/lib/x.py"),
        ("/w/b/x.py", "/w/a", "b/x.py"),
    ],
)  # fmt: skip
def test_path_from(path: str, root: str, shown: str) -> None:
    assert path_from(Path("/w"), path, root) == shown


@pytest.mark.usefixtures("verdicts")
def test_the_command_to_repeat_keeps_what_was_said(gradhook, project, monkeypatch: pytest.MonkeyPatch) -> None:
    project("bad", toml="[tool.gradhook]\norder = 2\n")
    monkeypatch.setenv("GRADHOOK_SEED", "4")
    said = gradhook("check", "--modes", "fwd,rev", "--output-format", "json", "m.py")
    finding = json.loads(said.out)["targets"][0]["findings"][0]
    assert finding["reproduce"] == "gradhook check m.py -k m:bad --modes fwd,rev --seed 4"


@pytest.mark.usefixtures("verdicts")
def test_a_report_goes_to_its_file(gradhook, project) -> None:
    folder = project("bad")
    said = gradhook("check", "-o", "report.json", "--output-format", "json", "--color", "always")
    assert (said.code, said.out) == (1, "")
    assert said.err == "1 failed in 1.0 s; see report.json\n"
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["verdict"] == "fail"


@pytest.mark.usefixtures("verdicts")
def test_the_format_can_come_from_the_file(gradhook, project) -> None:
    project("bad", toml="[tool.gradhook]\noutput-format = 'concise'\n")
    assert gradhook("check").out == "m.py:7: GRD101 fail m:bad bad is fail\n"


@pytest.mark.parametrize(
    ("choice", "environ", "stream", "painted"),
    [
        ("auto", {}, Terminal(), True),
        ("auto", {}, io.StringIO(), False),
        ("auto", {"TERM": "dumb"}, Terminal(), False),
        ("auto", {"NO_COLOR": "1"}, Terminal(), False),
        ("auto", {"NO_COLOR": ""}, Terminal(), True),
        ("auto", {"FORCE_COLOR": "1"}, io.StringIO(), True),
        ("auto", {"FORCE_COLOR": "1", "TERM": "dumb"}, io.StringIO(), True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, Terminal(), False),
        ("always", {"NO_COLOR": "1"}, io.StringIO(), True),
        ("never", {"FORCE_COLOR": "1"}, Terminal(), False),
    ],
)
def test_when_to_paint(choice: str, environ: dict[str, str], stream: io.StringIO, painted: bool) -> None:
    assert uses_color(choice, environ, stream) is painted


@pytest.mark.usefixtures("verdicts")
def test_paint_reaches_the_screen(gradhook, project) -> None:
    project("bad")
    assert "\x1b[" in gradhook("check", "--color", "always").out
    assert "\x1b[" not in gradhook("check").out


@pytest.mark.parametrize(
    ("environ", "stream", "shown"),
    [
        ({}, Terminal(), True), ({}, io.StringIO(), False), ({"CI": "true"}, Terminal(), False),
        ({"PRE_COMMIT": "1"}, Terminal(), False), ({"TERM": "dumb"}, Terminal(), False),
    ],
)  # fmt: skip
def test_when_to_show_progress(environ: dict[str, str], stream: io.StringIO, shown: bool) -> None:
    assert shows_progress(environ, stream) is shown
