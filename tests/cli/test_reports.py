"""Does one run write all the reports that it was asked for, and do shards add up to the whole?"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from gradhook.cli.shards import Shard, read
from gradhook.cli.view import rebased, repository
from gradhook.model import Report

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
    from gradhook.model import ClaimKind, Target, TargetReport, Verdict

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
    assert read(text) == shard


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
