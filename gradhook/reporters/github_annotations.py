"""Which places in the code does GitHub show a report at? Paths of the report start at the repository's root.

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
from gradhook.reporters.formatting import advice, answers, clean, flat, spot
from gradhook.reporters.github_commands import command
from gradhook.reporters.markdown import NAME, cut
from gradhook.reporters.sorting import worst_first

MOST = 10
_LEVELS = {Verdict.FAIL: "error", Verdict.ERROR: "error", Verdict.UNDECIDED: "warning", Verdict.ADVICE: "notice"}
_MOST_OF = {"error": MOST, "warning": MOST, "notice": MOST - 1}
"""One notice is left for what says how many are missing."""


@dataclass(frozen=True)
class _Mark:
    level: str
    path: str
    line: int | None
    title: str
    message: str


def render(report: Report) -> str:
    """Workflow commands, a line each; an empty text when there is nothing to show."""
    marks = list(dict.fromkeys(_marks(report)))
    shown: list[_Mark] = []
    for level, most in _MOST_OF.items():
        shown += [mark for mark in marks if mark.level == level][:most]
    lines = [_line(mark) for mark in shown]
    if len(shown) < len(marks):
        lines.append(_rest(marks, shown))
    return "".join(f"{line}\n" for line in lines)


def trouble(message: str) -> str:
    """The annotation of a run that did not come to a report."""
    return command("error", {"title": "gradhook could not run"}, message) + "\n"


def _marks(report: Report) -> Iterator[_Mark]:
    for target in worst_first(report.targets):
        if target.verdict in _LEVELS:
            yield from _target(target)
    for target in report.targets:
        for finding in advice(target):
            yield _mark(finding, target, spot(finding, target.target), ())
    for notice in report.notices:
        yield _notice(notice)


def _target(report: TargetReport) -> Iterator[_Mark]:
    """A mark at the function about its worst finding, then one at each other place that findings name."""
    findings = [finding for finding in answers(report) if finding.verdict in _LEVELS]
    own = (report.target.path, report.target.line)
    places: dict[tuple[str, int | None], Finding] = {}
    for finding in findings:
        if finding.path and (finding.path, finding.line) != own:
            places.setdefault((finding.path, finding.line), finding)
    count = len(findings) - 1
    more = [f"and {count} more finding{'s' * (count != 1)} about it"] * (count > 0)
    yield _mark(findings[0], report, own, [*(f"see {clean(path)}:{line}" for path, line in places), *more])
    for place, finding in places.items():
        yield _mark(finding, report, place, [f"found by the check of {_place(own)}"])


def _mark(finding: Finding, report: TargetReport, place: tuple[str, int | None], more: Iterable[str]) -> _Mark:
    said = [
        flat(finding.message) + " (cached)" * report.cached,
        f"help: {flat(finding.help)}" if finding.help else "",
        *more,
    ]
    said += [f"again: {flat(finding.reproduce)}"] if finding.reproduce else []
    title = cut(clean(f"{finding.code} {report.target.qualname}".strip()), NAME)
    return _Mark(_LEVELS[finding.verdict], *place, title, "\n".join(line for line in said if line))


def _notice(notice: Notice) -> _Mark:
    return _Mark("warning", notice.path, notice.line, notice.code, flat(notice.message))


def _line(mark: _Mark) -> str:
    """A place that is not in the repository cannot be shown there, so it becomes part of the message."""
    path = PurePath(mark.path)
    if path.is_absolute() or ".." in path.parts or not mark.path:
        message = f"{_place((mark.path, mark.line))}: {mark.message}"
        return command(mark.level, {"title": mark.title}, message)
    return command(mark.level, {"file": mark.path, "line": mark.line, "title": mark.title}, mark.message)


def _rest(marks: list[_Mark], shown: list[_Mark]) -> str:
    left = {level: sum(m.level == level for m in marks) - sum(m.level == level for m in shown)
            for level in _MOST_OF}  # fmt: skip
    parts = [f"{count} more {level}{'s' * (count != 1)}" for level, count in left.items() if count]
    return command("notice", {"title": "gradhook"}, f"{_and(parts)}: the summary of the job lists them")


def _and(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _place(place: tuple[str, int | None]) -> str:
    path, line = place
    return clean(path if line is None else f"{path}:{line}")
