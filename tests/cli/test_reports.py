"""Does one run write all the reports that it was asked for, and do shards add up to the whole?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
from markdown_it import MarkdownIt

from gradhook.cli.display import rebased, repository
from gradhook.cli.formats import REPORT_FORMATS
from gradhook.cli.sharding import Shard, parse_shard
from gradhook.execution import session
from gradhook.model.report import Report

DOCS = Path(__file__).parents[2] / "docs"
RULE = "\n@jax.custom_jvp\ndef unclaimed(x):\n    return x\n"
pytestmark = pytest.mark.usefixtures("verdicts")


def test_one_run_many_reports(gradhook, project, tmp_path: Path) -> None:
    project("good", "bad")
    forms = ("json", "junit", "sarif", "markdown", "github", "concise", "terminal")
    said = gradhook("check", *(word for form in forms for word in ("--report", f"{form}=out.{form}")))
    text = {form: (tmp_path / f"out.{form}").read_text(encoding="utf-8") for form in forms}
    assert said.code == 1
    assert json.loads(text["json"])["exit_code"] == 1
    assert ET.fromstring(text["junit"]).get("failures") == "1"
    assert json.loads(text["sarif"])["runs"][0]["results"][0]["ruleId"] == "GRD101"
    assert text["markdown"].startswith("## gradhook: fail\n")
    assert text["github"].startswith("::error file=m.py,line=")
    assert text["terminal"] == said.out
    assert text["concise"] == "m.py:7: GRD101 fail m:bad bad is fail\n"


def test_a_report_can_go_to_the_screen(gradhook, project) -> None:
    project("bad")
    assert "\n::error file=m.py" in gradhook("check", "--report", "github=-").out


@pytest.mark.parametrize("words", ["json", "json=", "yaml=x", "json=no/such/folder/x", "json=."])
def test_what_cannot_be_written_is_refused_before_the_run(gradhook, project, verdicts: list[str], words: str) -> None:
    project("good")
    assert gradhook("check", "--report", words).code == 2
    assert verdicts == []


def test_github_sees_paths_from_the_repository(gradhook, project, tmp_path: Path, monkeypatch) -> None:
    inner = project("bad", where="packages/a")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(inner)
    gradhook("check", "--report", "github=g", "--report", "sarif=s", "--report", "concise=c")
    assert "file=packages/a/m.py," in (inner / "g").read_text(encoding="utf-8")
    assert '"uri": "packages/a/m.py"' in (inner / "s").read_text(encoding="utf-8")
    assert (inner / "c").read_text(encoding="utf-8").startswith("m.py:7:")


def test_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert repository(inner, {}) == inner
    assert repository(inner, {"GITHUB_WORKSPACE": str(tmp_path)}) == tmp_path
    assert repository(inner, {"GITHUB_WORKSPACE": "/elsewhere"}) == inner
    (tmp_path / "a" / ".git").mkdir()
    assert repository(inner, {"GITHUB_WORKSPACE": str(tmp_path)}) == tmp_path / "a"


def test_paths_outside_the_repository_are_absolute(rich_like: Report) -> None:
    moved = rebased(rich_like, Path("/w/a"), Path("/w"))
    assert [t.target.path for t in moved.targets] == ["a/m.py", "/x.py"]


@pytest.fixture
def rich_like() -> Report:
    from gradhook.model.results import ClaimKind, Target, TargetReport, Verdict

    def made(path: str) -> TargetReport:
        return TargetReport(Target("m", "f", path, 1, 1, ClaimKind.EXACT, "/w/a"), Verdict.PASS)

    return Report((made("m.py"), made("../../x.py")))


@pytest.mark.parametrize(
    ("text", "shard"),
    [
        ("1/3", Shard(1, 3)), (" 3 / 3 ", Shard(3, 3)), ("0/3", None), ("4/3", None), ("1/0", None), ("a/b", None),
        ("1", None), ("-1/3", None), ("1/3/5", None), ("1/100000", None),
    ],
)  # fmt: skip
def test_what_a_shard_is(text: str, shard: Shard | None) -> None:
    assert parse_shard(text) == shard


NAMES = ("good", "good_b", "bad", "kink", "good_c", "good_d", "later")


@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
def test_shards_are_disjoint_even_and_complete(gradhook, project, verdicts: list[str], count: int) -> None:
    project(*NAMES)
    parts = []
    for number in range(1, count + 1):
        verdicts.clear()
        assert gradhook("check", "--shard", f"{number}/{count}", "--fail-on-empty").code in (0, 1)
        parts.append(list(verdicts))
    assert sorted(name for part in parts for name in part) == sorted(NAMES)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_shards_are_balanced_by_the_times_of_an_earlier_run(gradhook, project, verdicts: list[str]) -> None:
    folder = project("slow", "a", "b", "c", "new")
    gradhook("check", "--report", "json=earlier.json")
    document = json.loads((folder / "earlier.json").read_text(encoding="utf-8"))
    document["targets"] = [item for item in document["targets"] if item["target"] != "m:new"]
    document["counts"]["pass"] -= 1
    for item in document["targets"]:
        item["seconds"]["wall"] = 9.0 if item["target"] == "m:slow" else 2.0
    (folder / "earlier.json").write_text(json.dumps(document), encoding="utf-8")
    parts = []
    for number in (1, 2):
        verdicts.clear()
        gradhook("check", "--shard", f"{number}/2", "--durations-from", "earlier.json")
        parts.append(list(verdicts))
    assert parts == [["slow"], ["a", "b", "c", "new"]]


@pytest.mark.usefixtures("verdicts")
@pytest.mark.parametrize("text", [None, "{}", "no json"])
def test_times_that_cannot_be_read_are_an_error(gradhook, project, text: str | None) -> None:
    folder = project("good")
    if text is not None:
        (folder / "earlier.json").write_text(text, encoding="utf-8")
    said = gradhook("check", "--durations-from", "earlier.json")
    assert said.code == 2 and "earlier.json cannot be read" in said.err


@pytest.mark.usefixtures("verdicts")
def test_an_empty_shard_says_so(gradhook, project) -> None:
    project("good")
    assert gradhook("check", "--shard", "2/2").out == "no annotated functions are left for shard 2/2\n"


def test_a_wrong_shard_is_refused(gradhook, project) -> None:
    project("good")
    said = gradhook("check", "--shard", "3/2")
    assert (said.code, "K/N" in said.err) == (2, True)


def shards(gradhook, count: int) -> list[str]:
    for number in range(1, count + 1):
        gradhook("check", "--shard", f"{number}/{count}", "--report", f"json={number}.json")
    return [f"{number}.json" for number in range(1, count + 1)]


def test_merged_shards_are_the_whole(gradhook, project, tmp_path: Path) -> None:
    project(*NAMES, extra="\n@jax.custom_jvp\ndef unclaimed(x):\n    return x\n")
    whole = json.loads(gradhook("check", "--output-format", "json").out)
    said = gradhook("merge", *shards(gradhook, 3), "--output-format", "json", "--report", "markdown=s.md")
    merged = json.loads(said.out)
    assert said.code == whole["exit_code"] == merged["exit_code"] == 1
    for part in ("counts", "notices", "targets", "verdict"):
        assert merged[part] == whole[part]
    assert (tmp_path / "s.md").read_text(encoding="utf-8").startswith("## gradhook: fail\n")


@pytest.mark.parametrize(("names", "code"), [(["good", "good_b"], 0), (["good", "bad"], 1), (["gone", "bad"], 2)])
def test_the_gravest_exit_code_wins(gradhook, project, names: list[str], code: int) -> None:
    project(*names)
    assert gradhook("merge", *shards(gradhook, 2)).code == code


def test_settings_decide_in_a_merge_as_in_a_run(gradhook, project) -> None:
    project("kink", "good", toml="[tool.gradhook]\nundecided = 'warn'\n")
    assert gradhook("merge", *shards(gradhook, 2)).code == 0


def test_a_missing_shard_is_an_error(gradhook, project) -> None:
    project(*NAMES)
    files = shards(gradhook, 3)
    said = gradhook("merge", files[0], files[2])
    assert (said.code, said.out) == (2, "")
    assert "shards are missing: 2/3" in said.err


def test_shards_of_different_runs_do_not_go_together(gradhook, project) -> None:
    project(*NAMES)
    gradhook("check", "--shard", "1/2", "--report", "json=other.json")
    assert "different runs" in gradhook("merge", "other.json", *shards(gradhook, 3)).err


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": 9}', "\x00", '{"schema": 1, "targets": 3}'])
def test_what_is_no_report_is_refused(gradhook, tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    said = gradhook("merge", "x.json")
    assert said.code == 2
    assert "x.json cannot be read" in said.err
    assert "internal" not in said.err


def test_one_run_writes_every_form_and_each_is_what_its_readers_expect(gradhook, project, tmp_path: Path) -> None:
    project("good", "bad", "kink", "gone", "later", extra=RULE)
    said = gradhook("check", *(word for form in REPORT_FORMATS for word in ("--report", f"{form}=out.{form}")))
    text = {form: (tmp_path / f"out.{form}").read_text(encoding="utf-8") for form in REPORT_FORMATS}
    assert said.code == 2
    schema = json.loads((DOCS / "report.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(text["json"]), schema, cls=jsonschema.Draft202012Validator)
    suites = pytest.importorskip("junitparser").JUnitXml.fromstring(text["junit"])
    assert (suites.tests, suites.failures, suites.errors, suites.skipped) == (5, 2, 1, 1)
    log = pytest.importorskip("sarif_pydantic").Sarif.model_validate_json(text["sarif"])
    assert len(log.runs[0].results) == 5
    entries = json.loads(text["gitlab"])
    assert [e["severity"] for e in entries] == ["blocker", "critical", "minor", "info", "minor"]
    assert all(re.match(r"::(error|warning|notice) ", line) for line in text["github"].splitlines())
    assert "<table>" in MarkdownIt("gfm-like", {"linkify": False}).render(text["markdown"])
    assert text["html"].startswith("<!doctype html>") and text["html"].rstrip().endswith("</html>")
    assert text["terminal"] == said.out
    assert len(text["concise"].splitlines()) == 5


@pytest.mark.parametrize("form", [form for form in REPORT_FORMATS if form not in ("terminal", "html")])
def test_every_form_but_html_can_go_to_standard_output(gradhook, project, tmp_path: Path, form: str) -> None:
    project("bad")
    said = gradhook("check", "--output-format", form, "--report", f"{form}=same")
    assert said.out == (tmp_path / "same").read_text(encoding="utf-8")


def test_html_goes_to_a_file(gradhook, project, verdicts: list[str]) -> None:
    project("bad")
    assert "html is written to a file: html=report.html" in gradhook("check", "--report", "html=-").err
    assert gradhook("check", "--output-format", "html").code == 2
    project("bad", toml="[tool.gradhook]\noutput-format = 'html'\n")
    assert "--report html=PATH" in gradhook("check").err
    assert "--report html=PATH" in " ".join(gradhook("check", "--help").out.split())
    assert verdicts == []


@pytest.mark.parametrize(
    ("words", "wanted"), [([], False), (["-v"], True), (["--report", "html=a.html"], True), (["--curves"], True)]
)
def test_pictures_are_asked_for_where_somebody_sees_them(
    gradhook, project, monkeypatch, words: list[str], wanted: bool
) -> None:
    project("good")
    seen: list[bool] = []

    def check(projects, **_) -> Report:
        seen.append(projects[0].config.settings.curves)
        return Report(())

    monkeypatch.setattr(session, "check", check)
    gradhook("check", *words)
    assert seen == [wanted]


def test_only_failures(gradhook, project) -> None:
    project("good", "bad", "kink", "gone", extra=RULE)
    for form in ("terminal", "concise"):
        out = gradhook("check", "--only-failures", "--output-format", form).out
        assert "bad is fail" in out and "gone is error" in out
        assert "kink is" not in out and "GRD501" not in out
    assert "1 undecided, 1 passed, 1 notice" in gradhook("check", "--only-failures").out


def test_a_finding_stands_beside_its_line_and_a_merged_one_does_not(gradhook, project) -> None:
    project("bad", extra="\n")
    assert "7 | return x\n" in gradhook("check", "--report", "json=a.json").out
    assert "return x" not in gradhook("merge", "a.json").out


def test_only_a_page_loads_what_draws_it(project) -> None:
    project()
    reports = [f"--report={form}=x.{form}" for form in REPORT_FORMATS if form != "html"]
    code = f"import sys; from gradhook.cli.main import run; run(['check', *{reports}]); print('pygal' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
