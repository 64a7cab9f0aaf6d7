"""Does GitHub show the worst ten at the right places, and can text break out of an annotation?"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.model.report import Notice, Report
from gradhook.model.results import ClaimKind, Finding, Target, TargetReport, Verdict
from gradhook.reporters.github_annotations import failure_annotation, render
from gradhook.reporters.github_commands import LONGEST_MESSAGE, command, outputs, stop_commands, truncate_message

PIECES = (*"a%:,=\r\n;]|", "::error::", "##[error]", "%0A", "\x1b", "\udcff", "😀", "é")
TEXT = st.lists(st.sampled_from(PIECES), max_size=15).map("".join)


@dataclass(frozen=True)
class Command:
    name: str
    properties: dict[str, str]
    message: str


def parsed(line: str) -> Command | None:
    """As ``ActionCommand.TryParseV2`` of actions/runner reads a line."""
    line = line.lstrip()
    if not line.startswith("::") or (end := line.find("::", 2)) < 0:
        return None
    name, _, pairs = line[2:end].partition(" ")
    properties = {}
    for pair in filter(None, pairs.strip().split(",")):
        key, _, value = pair.partition("=")
        properties[key] = unescaped(value, {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"})
    return Command(name, properties, unescaped(line[end + 2 :], {"%0D": "\r", "%0A": "\n", "%25": "%"}))


def unescaped(text: str, codes: dict[str, str]) -> str:
    for escaped, plain in codes.items():
        text = text.replace(escaped, plain)
    return text


def commands(report: Report) -> list[Command]:
    found = [parsed(line) for line in render(report).splitlines()]
    assert all(found)
    return [c for c in found if c]


def test_worst_first_at_function_and_rule(rich: Report) -> None:
    found = commands(rich)
    assert [(c.name, c.properties.get("file"), c.properties.get("line")) for c in found] == [
        ("error", "b.py", "9"), ("error", "b.py", "3"), ("error", "a/losses.py", "12"), ("error", "a/losses.py", "13"),
        ("warning", "a/losses.py", "20"), ("warning", "ste.py", "30"),
    ]  # fmt: skip
    assert found[2].properties["title"] == "GRD102 huber"
    assert found[2].message == (
        "d out / d delta[3]: JAX gives -0.5 (grad), finite differences give 0.5 ± 2e-11\n"
        "help: the rule's factor has the wrong sign\nsee a/losses.py:13\nand 1 more finding about it\n"
        "rerun: gradhook check a/losses.py -k huber"
    )
    assert "found by the check of a/losses.py:12" in found[3].message


def test_ten_of_each_and_one_notice(target) -> None:
    fails = [
        target(f"f{n}", Verdict.FAIL, line=n, findings=(Finding("GRD101", Verdict.FAIL, "x"),)) for n in range(4000)
    ]
    doubts = [target(f"u{n}", Verdict.UNDECIDED, line=n, findings=()) for n in range(1000)]
    found = commands(Report((*doubts, *fails)))
    assert [c.name for c in found] == ["error"] * 10 + ["warning"] * 10 + ["notice"]
    assert found[-1].message == "3990 more errors and 990 more warnings: the summary of the job lists them"


def test_eleven_failures(target) -> None:
    fails = [target(f"f{n}", Verdict.FAIL, line=n, findings=(Finding("GRD101", Verdict.FAIL, "x"),)) for n in range(11)]
    assert [c.name for c in commands(Report(tuple(fails)))] == ["error"] * 10 + ["notice"]
    assert commands(Report(tuple(fails)))[-1].message.startswith("1 more error: ")


def test_nothing_to_show(target) -> None:
    assert render(Report((target("f", Verdict.PASS),))) == ""


def test_places_outside_the_repository_are_told_in_words(target) -> None:
    finding = Finding("GRD101", Verdict.FAIL, "x", path="/usr/lib/rule.py", line=4)
    far = commands(Report((target("f", Verdict.FAIL, findings=(finding,)),)))[1]
    assert "file" not in far.properties
    assert far.message.startswith("/usr/lib/rule.py:4: x")


def test_long_messages_are_cut_by_us(target) -> None:
    report = Report((target("f", Verdict.FAIL, findings=(Finding("GRD101", Verdict.FAIL, "😀" * 5000),)),))
    message = commands(report)[0].message
    assert message.endswith("…")
    assert 4000 < len(message.encode("utf-16-le")) / 2 <= LONGEST_MESSAGE


@given(TEXT, TEXT, TEXT)
def test_no_text_breaks_out(name: str, path: str, message: str) -> None:
    finding = Finding("GRD101", Verdict.FAIL, message, help=message, reproduce=message, path=path or None, line=2)
    subject = TargetReport(Target(name, name, path, 1, 1, ClaimKind.EXACT, "/r"), Verdict.FAIL, findings=(finding,))
    found = commands(Report((subject,), (Notice("GRD501", path, 3, message),)))
    assert {c.name for c in found} == {"error", "warning"}
    assert all(set(c.properties) <= {"file", "line", "title"} for c in found)


@given(TEXT, TEXT)
def test_what_is_said_arrives(path: str, message: str) -> None:
    found = parsed(command("error", {"file": path, "line": 3}, message))
    expected = [text.encode("utf-8", "backslashreplace").decode() for text in (path, message)]
    assert found == Command("error", {**({"file": expected[0]} if path else {}), "line": "3"}, expected[1])


@given(TEXT)
def test_messages_are_kept_whole_where_they_fit(text: str) -> None:
    assert truncate_message(text) == text


TOKEN = "0123456789abcdef"
PRINTED = st.lists(
    st.sampled_from(
        [
            "::error::x",
            "  ##[error]x",
            "::stop-commands::y",
            'File "x.py", line 3, in f',
            '  File "y.py", line 1, in g',
            "ok",
            "",
        ]
    )
)


@given(PRINTED)
def test_quoted_text_says_nothing(lines: list[str]) -> None:
    text = stop_commands("\n".join(lines), TOKEN).splitlines()
    assert text[0] == f"::stop-commands::{TOKEN}"
    assert text[-1] == f"::{TOKEN}::"
    matcher = re.compile(r'^\s*File\s"(.*)",\sline\s(\d+),\sin\s(.*)$')  # of actions/setup-python
    assert not any(matcher.match(line) for line in text)
    assert "\n".join(text[1:-1]).replace("| ", "").split() == "\n".join(lines).split()


def test_outputs_cannot_be_forged() -> None:
    text = outputs({"a": "1", "b": "x\nd2\ny"}, {"a": "d1", "b": "d3"})
    assert text == "a<<d1\n1\nd1\nb<<d3\nx\nd2\ny\nd3\n"
    with pytest.raises(ValueError, match="delimiter"):
        outputs({"a": "x d1"}, {"a": "d1"})


def test_trouble_is_one_error() -> None:
    found = parsed(failure_annotation("no JAX\n  tried: a").rstrip("\n"))
    assert found == Command("error", {"title": "gradhook could not run"}, "no JAX\n  tried: a")
