"""Find ignore comments that ignore nothing or name no valid code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradhook.model.report import Notice
from gradhook.model.results import TargetReport, Verdict
from gradhook.model.rule_docs import codes
from gradhook.projects.suppressions.sources import COULD_NOT_RUN, Suppressions, is_selected, is_specific
from gradhook.scan import Scan
from gradhook.scan.parse import Comment

_OF_THE_SCAN = ("GRD501", "GRD502")
_UNUSED = "GRD503"
_NO_ANSWER = (Verdict.ERROR, Verdict.SKIP)
_Locations = set[tuple[str, int]]


def mistaken(scan: Scan, root: str) -> Iterator[Notice]:
    """Comments that ignore nothing because they name no code, or an unknown one."""
    for comment in scan.comments:
        if not comment.codes:
            text = "`# gradhook: ignore` names no code and ignores nothing: write ignore[GRD406]"
            yield Notice("GRD504", comment.path, comment.line, text, root)
        for code in comment.codes:
            if wrong := _wrong(code):
                yield Notice("GRD504", comment.path, comment.line, wrong, root)


def unused(scan: Scan, reports: Sequence[TargetReport], suppressions: Suppressions, *, whole: bool) -> list[Notice]:
    """The codes of comments that had nothing to ignore, as far as this run can show."""
    coverage = _Coverage.of(scan, reports, whole=whole)
    found = []
    for comment in scan.comments:
        unused = [code for code in comment.codes if _is_unused(code, comment, suppressions)]
        idle = [code for code in unused if coverage.settles(code, comment)]
        if idle and _UNUSED not in comment.codes:
            text = f"nothing to ignore here: {', '.join(idle)} of `# gradhook: ignore[{', '.join(comment.codes)}]`"
            found.append(Notice(_UNUSED, comment.path, comment.line, text, suppressions.root))
    return found


def _wrong(code: str) -> str:
    if code.startswith(COULD_NOT_RUN):
        return f"{code} says that something could not run, which cannot be ignored"
    if is_specific(code) and any(known.startswith(code) for known in codes()):
        return ""
    return f"`{code}` in an ignore comment is no code of gradhook"


def _is_unused(code: str, comment: Comment, suppressions: Suppressions) -> bool:
    """Whether a selected code ignored nothing."""
    selected = is_selected(code, suppressions.config.settings.select)
    return selected and not _wrong(code) and (comment, code) not in suppressions.used


class _Coverage:
    """The lines that a run covered completely, so that an unused comment is known to be unused."""

    def __init__(self, known: _Locations, open_: _Locations, rules: _Locations, whole: bool) -> None:
        self._known, self._open, self._rules, self._whole = known, open_, rules, whole

    @classmethod
    def of(cls, scan: Scan, reports: Sequence[TargetReport], *, whole: bool) -> _Coverage:
        """Lines of targets with an answer, of those without, and of custom rules without a claim."""
        answered = {(r.target.path, r.target.line, r.target.mark) for r in reports if r.verdict not in _NO_ANSWER}
        known: _Locations = set()
        open_: _Locations = set()
        for target in (*scan.targets, *(report.target for report in reports)):
            side = known if (target.path, target.line, target.mark) in answered else open_
            side |= {(target.path, line) for line in (*target.lines, target.line, target.mark)}
        rules = {(notice.path, line) for notice in scan.notices for line in (notice.line, *notice.lines)}
        return cls(known, open_, rules, whole and not open_)

    def settles(self, code: str, comment: Comment) -> bool:
        """Whether nothing outside this run could still need the comment."""
        location = (comment.path, comment.line)
        if location in self._open:
            return False
        is_about_rules = location in self._rules and code.startswith(_OF_THE_SCAN)
        return self._whole or location in self._known or is_about_rules
