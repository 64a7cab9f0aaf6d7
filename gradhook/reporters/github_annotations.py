"""Annotations of a GitHub workflow. Paths of the report start at the repository's root.

GitHub shows ten errors, ten warnings and ten notices of a step and drops the rest without a word: the worst come first,
and one notice says how many are missing. Advice is a notice. An annotation stands at the annotated function and one at
the rule that is to blame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from gradhook.model.report import Notice, Report
from gradhook.model.results import Finding, TargetReport, Verdict
from gradhook.reporters.formatting import advice, clean, decisive_findings, location, one_line, worst_first
from gradhook.reporters.github_commands import command
from gradhook.reporters.markdown import NAME, truncate

MOST = 10
_LEVELS = {Verdict.FAIL: "error", Verdict.ERROR: "error", Verdict.UNDECIDED: "warning", Verdict.ADVICE: "notice"}
_MOST_OF = {"error": MOST, "warning": MOST, "notice": MOST - 1}
"""One notice is left for the one that counts the omitted ones."""


@dataclass(frozen=True)
class _Annotation:
    level: str
    path: str
    line: int | None
    title: str
    message: str


def render(report: Report) -> str:
    """Workflow commands, a line each; an empty text when there is nothing to show."""
    marks = list(dict.fromkeys(_annotations(report)))
    shown: list[_Annotation] = []
    for level, most in _MOST_OF.items():
        shown += [mark for mark in marks if mark.level == level][:most]
    lines = [_line(mark) for mark in shown]
    if len(shown) < len(marks):
        lines.append(_omitted(marks, shown))
    return "".join(f"{line}\n" for line in lines)


def failure_annotation(message: str) -> str:
    """The annotation of a run that did not come to a report."""
    return command("error", {"title": "gradhook could not run"}, message) + "\n"


def _annotations(report: Report) -> Iterator[_Annotation]:
    for target in worst_first(report.targets):
        if target.verdict in _LEVELS:
            yield from _target(target)
    for target in report.targets:
        for finding in advice(target):
            yield _annotation(finding, target, location(finding, target.target), ())
    for notice in report.notices:
        yield _notice(notice)


def _target(report: TargetReport) -> Iterator[_Annotation]:
    """A mark at the function about its worst finding, then one at each other place that findings name."""
    findings = [finding for finding in decisive_findings(report) if finding.verdict in _LEVELS]
    own = (report.target.path, report.target.line)
    places: dict[tuple[str, int | None], Finding] = {}
    for finding in findings:
        if finding.path and (finding.path, finding.line) != own:
            places.setdefault((finding.path, finding.line), finding)
    notes = [f"see {clean(path)}:{line}" for path, line in places]
    if count := len(findings) - 1:
        notes.append(f"and {count} more finding{'s' * (count != 1)} about it")
    yield _annotation(findings[0], report, own, notes)
    for place, finding in places.items():
        yield _annotation(finding, report, place, [f"found by the check of {_place(own)}"])


def _annotation(
    finding: Finding, report: TargetReport, place: tuple[str, int | None], more: Iterable[str]
) -> _Annotation:
    headline = one_line(finding.message) + (" (cached)" if report.cached else "")
    parts = [headline, f"help: {one_line(finding.help)}" if finding.help else "", *more]
    parts += [f"rerun: {one_line(finding.reproduce)}"] if finding.reproduce else []
    title = truncate(clean(f"{finding.code} {report.target.qualname}".strip()), NAME)
    return _Annotation(_LEVELS[finding.verdict], *place, title, "\n".join(line for line in parts if line))


def _notice(notice: Notice) -> _Annotation:
    return _Annotation("warning", notice.path, notice.line, notice.code, one_line(notice.message))


def _line(mark: _Annotation) -> str:
    """A place that is not in the repository cannot be shown there, so it becomes part of the message."""
    path = PurePath(mark.path)
    if path.is_absolute() or ".." in path.parts or not mark.path:
        message = f"{_place((mark.path, mark.line))}: {mark.message}"
        return command(mark.level, {"title": mark.title}, message)
    return command(mark.level, {"file": mark.path, "line": mark.line, "title": mark.title}, mark.message)


def _omitted(marks: list[_Annotation], shown: list[_Annotation]) -> str:
    left = {level: sum(m.level == level for m in marks) - sum(m.level == level for m in shown)
            for level in _MOST_OF}  # fmt: skip
    parts = [f"{count} more {level}{'s' * (count != 1)}" for level, count in left.items() if count]
    return command("notice", {"title": "gradhook"}, f"{_join_words(parts)}: the summary of the job lists them")


def _join_words(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _place(place: tuple[str, int | None]) -> str:
    path, line = place
    return clean(path if line is None else f"{path}:{line}")
