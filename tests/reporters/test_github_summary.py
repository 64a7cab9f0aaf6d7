"""Is the page of a job complete, in order, small enough, and safe from the text that it shows?"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from gradhook.model.report import Ignored, Notice, Report
from gradhook.model.results import ClaimKind, Finding, Outcome, Target, TargetReport, Verdict
from gradhook.reporters.formatting import clean
from gradhook.reporters.github_summary import LIMIT, failure_page, render
from gradhook.reporters.markdown import TEXT, block, code

PARSER = MarkdownIt("commonmark").enable("table")
PIECES = (
    "a", " ", "\n", "\r", "|", "\\", "`", "``", "```", "<", ">", "</details>", "<!--", "&", "&#124;", "*", "_", "#",
    "@x", "](http://e.com)", "\x1b[31m", "::error::", "##[error]", "\u202e", "\udcff", "é", "漢", "http://e.com",
)  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def cells(text: str) -> list[list[str]]:
    """The text of every cell of every table, row for row, as a reader of Markdown finds it."""
    rows: list[list[str]] = []
    for token in PARSER.parse(text):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and token.level >= 3:
            rows[-1].append(words(token))
    return rows


def words(token: Token) -> str:
    """The text of inline Markdown without its markup; ``<br>`` is a line break."""
    shown = {"code_inline", "text", "text_special"}
    parts = [("\n" if t.content == "<br>" else "") if t.type == "html_inline" else t.content
             for t in token.children or [] if t.type in shown or t.type == "html_inline"]  # fmt: skip
    return "".join(parts)


def test_the_page(rich: Report) -> None:
    text = render(rich)
    head, _, rest = text.partition("\n### ")
    assert head == (
        "## gradhook: error\n\n1 could not be run, 1 failed, 1 undecided, 2 passed (1 surrogate, 1 cached), 1 skipped, "
        "1 notice in 3.2 s\n\n"
        "`2 findings ignored: GRD406 by comment a/losses.py:40, GRD501 by ignore (pyproject.toml)`\n"
    )
    titles = re.findall(r"(?:### |<summary>)([^\n<]+)", "### " + rest)
    assert titles == [
        "Failed", "Could not be run", "Undecided", "Notices", "Surrogates as declared", "Passed", "Skipped",
        "Environment",
    ]  # fmt: skip
    assert text.count("<details>") == text.count("</details>") == 4


def test_a_failing_row_has_all_that_is_known(rich: Report) -> None:
    row = next(row for row in cells(render(rich)) if "GRD102" in row[1])
    assert row == [
        "losses:huber\na/losses.py:13", "GRD102\ncase batch", "rev", "-0.5", "0.5 ± 2e-11", "1e-07",
        "resolution 4e-10",
        "d out / d delta[3]: JAX gives -0.5 (grad), finite differences give 0.5 ± 2e-11\n"
        "help: the rule's factor has the wrong sign\nrerun: gradhook check a/losses.py -k huber",
    ]  # fmt: skip


def test_the_environment(rich: Report) -> None:
    more = {
        "other_gradhook": "0.0.9", "matmul_precision": "highest", "devices": 8, "system": "Linux x86_64",
        "commit": "abc123", "variables": {"XLA_FLAGS": "--xla_a=|b"},
    }  # fmt: skip
    found = dict(row for row in cells(render(replace(rich, environment={**rich.environment, **more}))) if len(row) == 2)
    assert found["jax"] == "0.10.2"
    assert found["device"] == "cpu, 8 of them"
    assert found["precision"] == "float64"
    assert found["matmul precision"] == "highest"
    assert found["OS"] == "Linux x86_64"
    assert found["commit"] == "abc123"
    assert found["XLA_FLAGS"] == "--xla_a=|b"
    assert found["gradhook in the project"] == "0.0.9, which is not used"
    assert found["rtol"] == "2e-10 (default)"
    assert found["seed"] == "7 (--seed)"
    assert found["modes"] == "fwd (pyproject.toml)"
    assert found["time"] == "3.2 s in all, 0.5 s of compilation"


def test_failures_come_worst_first(target) -> None:
    def off(name: str, claimed: float) -> Any:
        finding = Finding("GRD101", Verdict.FAIL, "x", claimed=claimed, measured=1.0, tolerance=1e-9)
        return target(name, Verdict.FAIL, findings=(finding,))

    report = Report((off("near", 1.001), off("far", 9.0), off("nothing", math.nan), off("middle", 2.0)))
    names = [row[0].split("\n")[0] for row in cells(render(report))[1:5]]
    assert names == ["losses:nothing", "losses:far", "losses:middle", "losses:near"]


def test_a_surrogate_is_named_as_one_with_its_boundaries(target) -> None:
    note = (
        "left | on | right of each boundary: along x ties are rounded half to even; "
        "x = 0.5: value 0 | 0 | 1, derivative 1 | 0.5 | 1; "
        "x = -1: value -1 | -1 | -0.5, derivative 0 | 1 | 1, closed"
    )
    outcomes = (Outcome("GRD207", Verdict.PASS, "args", note=note),)
    text = render(Report((target("f", Verdict.PASS, claim=ClaimKind.SURROGATE, outcomes=outcomes),)))
    assert "<summary>Boundaries of surrogates</summary>" in text
    shown = cells(text)
    assert shown[1][1] == "surrogate, as declared"
    name = "losses:f\ncase args"
    assert shown[3:6] == [
        [name, "along x ties are rounded half to even", "", "", "", "", "", "", ""],
        [name, "x = 0.5", "0", "0", "1", "1", "0.5", "1", ""],
        [name, "x = -1", "-1", "-1", "-0.5", "0", "1", "1", "closed"],
    ]
    failed = target("g", Verdict.FAIL, claim=ClaimKind.SURROGATE, findings=(Finding("GRD202", Verdict.FAIL, "x"),))
    assert "(surrogate)" in cells(render(Report((failed,))))[1][0]


def test_the_boundaries_are_those_that_the_check_writes() -> None:
    """The note is a text of another file: were it written in other words, the table would have one column."""
    from gradhook.checks import grd207_boundaries as check
    from gradhook.comparison.surrogate_probe import Discontinuity
    from gradhook.reporters.shared_rows import _ROW

    three = (0.0, 0.0, 0.0)
    b = Discontinuity("x[0]", "out", (0.4, 0.5, 0.6), (0.0, 0.0, 0.25), (0.0, 1.0, 1.0), three, three, jumps=False)
    (line,) = check._table(SimpleNamespace(ties="", discontinuities=(b,), input="x[0]"))
    found = _ROW.fullmatch(line)
    assert found
    assert found.groups() == ("x[0] = 0.5", "0", "0", "0.25", "0", "1", "1", "closed")


def many(target: Any, verdict: Verdict, count: int, start: int = 0) -> tuple[Any, ...]:
    message = "d out / d delta[3]: JAX gives -0.5 (grad), finite differences give 0.5 ± 2e-11"
    finding = Finding(
        "GRD102", verdict, message, case="args", mode="rev", claimed=-0.5, measured=0.5, error=2e-11, tolerance=1e-7,
        resolution=4e-10, help="check the rule first", reproduce="gradhook check a/losses.py -k losses:function_12345",
    )  # fmt: skip
    found = () if verdict is Verdict.PASS else (finding,)
    return tuple(target(f"function_{n:05}", verdict, line=n, findings=found) for n in range(start, start + count))


@pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.ADVICE])
def test_five_thousand_targets_fit(target, rich: Report, verdict: Verdict) -> None:
    nan = replace(many(target, Verdict.FAIL, 1)[0].findings[0], claimed=math.nan)
    worst = target("function_04999", Verdict.FAIL, findings=(nan,))
    text = render(replace(rich, targets=(*many(target, verdict, 4999), worst), ignored=()))
    size = len(text.encode())
    assert size < 1_048_576
    assert text.startswith("## gradhook: ")
    assert "<details><summary>Environment</summary>" in text
    assert "losses:function_04999" in text
    shown = len(set(re.findall(r"function_\d{5}", text)) - {"function_12345"})
    left = sum(int(count.replace(",", "")) for count in re.findall(r"([\d,]+) of “", text))
    assert shown + left == 5000 + len(rich.notices) * ("GRD501" not in text)
    assert (left > 0) == (size > 900_000)


@pytest.mark.parametrize("limit", [10_000, 20_000, 60_000])
def test_what_is_left_out_is_the_best(target, limit: int) -> None:
    report = Report((*many(target, Verdict.PASS, 200), *many(target, Verdict.FAIL, 200, 200)))
    text = render(report, limit=limit)
    assert len(text.encode()) <= limit
    assert "200 of “Passed”" in text
    assert re.search(r"\d+ of “Failed”", text)
    assert text.count("<details>") == text.count("</details>")


@settings(max_examples=300)
@given(HOSTILE)
@example("`")
@example("a\\|b")
@example("\\")
@example("| a |\n| - |")
def test_foreign_text_stays_text_in_a_cell(text: str) -> None:
    table = f"| a | b |\n| --- | --- |\n| {code(text)} | end |\n"
    rows = cells(table)
    assert len(rows) == 2
    assert len(rows[1]) == 2
    kept = rows[1][0]
    assert kept == (clean(text) if clean(text).strip() else "")


@given(st.lists(HOSTILE, max_size=5))
def test_foreign_lines_cannot_end_their_block(lines: list[str]) -> None:
    tokens = PARSER.parse(block(lines) + "\nafter\n")
    assert [t.type for t in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]


@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_text_of_a_report_changes_the_page(name: str, path: str, message: str) -> None:
    def page(name: str, path: str, message: str) -> str:
        subject = Target(name, name, path, 1, 1, ClaimKind.SURROGATE, "/r")
        finding = Finding(
            "GRD101", Verdict.FAIL, message, case=name, help=message, reproduce=message, path=path, line=1
        )
        bad = TargetReport(subject, Verdict.FAIL, findings=(finding,), output=message)
        good = TargetReport(
            subject, Verdict.PASS, (Outcome("GRD207", Verdict.PASS, name, note=f"x{message.replace(';', ',')}"),)
        )
        more = {"device": f"x{message}", "variables": {"XLA_FLAGS": message}}
        ignored = (Ignored("GRD501", f"comment {path}:1", path, 1, message),)
        return render(Report((bad, good), (Notice("GRD501", path, 1, message),), more, ignored=ignored))

    shape = [(t.type, t.tag) for t in PARSER.parse(page(name, path, message)) if t.type != "inline"]
    assert shape == [(t.type, t.tag) for t in PARSER.parse(page("a", "a", "a")) if t.type != "inline"]
    text = page(name, path, message)
    text.encode()
    assert all(line.isprintable() for line in text.split("\n"))
    words = [token for token in PARSER.parse(text) if token.type == "inline"]
    assert {t.content for w in words for t in w.children or [] if t.type == "html_inline"} <= {
        "<br>",
        "<code>",
        "</code>",
    }


def test_a_run_without_a_report() -> None:
    text = failure_page("gradhook: no Python with JAX\n```\n::error::x\n" + "x" * 5000)
    assert text.startswith("## gradhook: could not run\n\n````text\ngradhook: no Python with JAX\n```\n")
    assert len(text) < TEXT + 100


def test_nothing_was_checked() -> None:
    assert render(Report(())).startswith("## gradhook: nothing checked\n")


def test_the_limit_is_below_that_of_the_runner() -> None:
    assert LIMIT < 1024 * 1024
