"""Does every code have a page, in the one form, that agrees with the check and whose examples do what they say?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import gradhook
from gradhook.model.rule_docs import codes, pages
from gradhook.reporters import rule_pages

PACKAGE = Path(gradhook.__file__).parent
PAGES = sorted((PACKAGE / "checks" / "rules").glob("*.md"))
FORM = re.compile(
    r"# (?P<code>GRD\d{3}) (?P<name>[a-z0-9-]+)\n\n> (?P<question>[^\n]+\?)\n\n"
    r"## What it means\n\n.+?\n\nVerdict: \*\*(?P<verdict>\w+)\*\*, exit code (?P<exit>\d)[^\n]*\.\n\n"
    r"## Usual causes\n\n(?:- .+\n(?:  .+\n)*)+\n"
    r"## How to mend it\n\n.+?\n\n"
    r"(?:## Fails\n\n```python\n(?P<fails>[^`]+?\n)```\n\n## Mended\n\n```python\n(?P<mended>[^`]+?\n)```\n"
    r"|## Example\n\n(?P<example>.+)\n)",
    re.DOTALL,
)
EXITS = {"notice": 0, "skip": 0, "fail": 1, "undecided": 1, "error": 2}
NO_FILE = {"GRD411", "GRD505", "GRD903", "GRD907", "GRD908", "GRD912"}
"""What no single Python file can show: a line of the configuration, a broken JAX, a mistake of ours, an option."""


@dataclass(frozen=True)
class Run:
    """One run of ``gradhook check --output-format json``."""

    code: int
    report: dict[str, Any]
    errors: str

    def found(self, stem: str) -> set[tuple[str, str]]:
        """Code and verdict of everything that is said of a file, whose notices have the verdict ``notice``."""
        findings = [f for t in self.report["targets"] if Path(t["path"]).stem == stem for f in t["findings"]]
        said = {(finding["code"], finding["verdict"]) for finding in findings}
        return said | {(n["code"], "notice") for n in self.report["notices"] if Path(n["path"]).stem == stem}


def parts(page: Path) -> dict[str, str]:
    """The parts of a page by name; empty where it has another form."""
    match = FORM.fullmatch(page.read_text(encoding="utf-8"))
    return {name: text for name, text in match.groupdict().items() if text is not None} if match else {}


def check(folder: Path) -> Run:
    environ = {name: text for name, text in os.environ.items() if not name.startswith("GRADHOOK_")}
    environ["PYTHONPATH"] = str(PACKAGE.parent)
    command = [sys.executable, "-m", "gradhook", "check", ".", "--python", sys.executable, "--timeout", "15"]
    done = subprocess.run(
        [*command, "--output-format", "json"],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", env=environ, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return Run(done.returncode, json.loads(done.stdout), done.stderr)


def written(folder: Path, which: str) -> Path:
    """A project with one file for each page that has such an example."""
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    for page in PAGES:
        if text := parts(page).get(which):
            (folder / f"{page.stem}.py").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_form(page: Path) -> None:
    found = parts(page)
    assert found, "the page does not match FORM"
    assert found["code"] == page.stem
    assert EXITS[found["verdict"]] == int(found["exit"])
    assert ("example" in found) == (page.stem in NO_FILE)
    assert max(len(line) for line in page.read_text(encoding="utf-8").splitlines()) <= 120


def test_every_code_of_the_source_has_a_page_and_no_other() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert {page.stem for page in PAGES} == set(re.findall(r"GRD\d{3}", source))


def test_pages_refer_to_existing_pages() -> None:
    mentioned = {code for page in PAGES for code in re.findall(r"GRD\d{3}", page.read_text(encoding="utf-8"))}
    assert mentioned == {page.stem for page in PAGES}


def test_names_are_unique() -> None:
    names = [parts(page)["name"] for page in PAGES]
    assert len(names) == len(set(names))


def test_titles_and_questions_are_those_of_the_checks() -> None:
    pytest.importorskip("numpy")
    from gradhook.checks import all_checks

    rules = {check.RULE.code: check.RULE for check in all_checks()}
    pages = {page.stem: parts(page) for page in PAGES if page.stem in rules}
    assert {code: (page["name"], page["question"]) for code, page in pages.items()} == {
        code: (rule.name, rule.question) for code, rule in rules.items()
    }


def test_failing_examples_are_reported_with_their_code(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    run = check(written(tmp_path, "fails"))
    expected = {page.stem: (page.stem, parts(page)["verdict"]) for page in PAGES if "fails" in parts(page)}
    missing = {stem: run.found(stem) for stem, wanted in expected.items() if wanted not in run.found(stem)}
    assert not missing
    stranger = {stem: found for stem in expected for found in run.found(stem) if _graver(found[1], expected[stem][1])}
    assert not stranger, "an example fails for a graver reason than the one it is about"
    assert run.code == 2


def test_mended_examples_pass(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    run = check(written(tmp_path, "mended"))
    assert {t["target"]: t["findings"] for t in run.report["targets"] if t["verdict"] != "pass"} == {}
    assert (run.code, run.report["notices"], run.errors) == (0, [], "")
    assert len(run.report["targets"]) == len(list(tmp_path.glob("GRD*.py")))


def test_the_example_of_a_name_that_is_not_found(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    text = (PACKAGE / "checks" / "rules" / "GRD903.md").read_text(encoding="utf-8")
    toml = re.findall(r"```toml\n(.+?)```", text, re.DOTALL)[0]
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "losses.py").write_text("def huber(x):\n    return (x * x).sum()\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(toml, encoding="utf-8")
    wrong = check(tmp_path)
    (finding,) = [f for t in wrong.report["targets"] for f in t["findings"]]
    assert (wrong.code, finding["code"], finding["verdict"]) == (2, "GRD903", "error")
    assert finding["help"] == "did you mean `huber`?"
    (tmp_path / "pyproject.toml").write_text(toml.replace("hubert", "huber"), encoding="utf-8")
    right = check(tmp_path)
    assert (right.code, right.report["counts"]["pass"]) == (0, 1)


def test_the_document_of_all_pages_is_up_to_date() -> None:
    document = PACKAGE.parent / "docs" / "rules.md"
    help = "run `gradhook rule --all --output-format markdown > docs/rules.md`"
    assert document.read_text(encoding="utf-8") == rule_pages.as_markdown(pages(codes())), help


def test_links_of_the_document_lead_to_its_headings() -> None:
    text = rule_pages.as_markdown(pages(codes()))
    anchors = {line[3:].lower().replace(" ", "-") for line in text.splitlines() if line.startswith("## GRD")}
    assert set(re.findall(r"\]\(#(.+?)\)", text)) == anchors
    assert len(anchors) == len(PAGES)


def _graver(one: str, other: str) -> bool:
    order = ("notice", "advice", "undecided", "fail", "error")
    return order.index(one) > order.index(other)
