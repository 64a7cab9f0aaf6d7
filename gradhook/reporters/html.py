"""The HTML report: one page that works from disk, offline, light and dark.

The page loads nothing and runs nothing: the filter is a matter of style. Plots need the extra ``gradhook[html]``;
without it the page has the same numbers in tables, and a note about it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from types import MappingProxyType

from gradhook.model.report import Report
from gradhook.model.results import TargetReport
from gradhook.reporters import baseline_changes, html_plots
from gradhook.reporters.display_options import SourceLines
from gradhook.reporters.environment import environment_table
from gradhook.reporters.formatting import (
    WORSE_FIRST,
    advice,
    decisive_findings,
    ignored_summary,
    resolution_text,
    summary,
)
from gradhook.reporters.html_elements import el, html_document, table
from gradhook.reporters.html_style import STYLE
from gradhook.reporters.html_target import WORDS, badge, section
from gradhook.reporters.markdown import truncate
from gradhook.reporters.sorting import worst_first

_LONGEST = 160
REMEDY = "No plots: they need pygal. Install it where gradhook runs: pip install 'gradhook[html]'."


def render(report: Report, sources: SourceLines = MappingProxyType({})) -> str:
    """The whole document; ``sources`` are quoted where findings stand."""
    draws = html_plots.available()
    targets = [(f"t{number}", target) for number, target in enumerate(worst_first(report.targets), 1)]
    verdict = WORDS[report.verdict] if targets else "nothing checked"
    body = [
        el("header", el("h1", f"gradhook: {verdict}"), *_summary(report)),
        None if draws else el("p", REMEDY, role="note"),
        _filter(report) if targets else None,
        el("main", *_overview(targets), *(section(t, anchor, sources, draws) for anchor, t in targets),
           *_notices(report)),
        el("footer", el("h2", "environment and settings"), *_environment(report)),
    ]  # fmt: skip
    return html_document(title=f"gradhook: {verdict}", style=STYLE, body=body)


def _summary(report: Report) -> Iterator[ET.Element]:
    """The counts, and what a reader must not take the answers for."""
    yield el("p", summary(report))
    if aside := ignored_summary(report):
        yield el("p", aside, class_="soft")
    if report.unanswered:
        yield el("details", el("summary", "without an answer"), el("p", ", ".join(report.unanswered)))


def _filter(report: Report) -> ET.Element:
    counts = report.counts
    boxes = [
        el("label", el("input", type="checkbox", checked="checked", id=f"show-{verdict.value}"),
           f" {WORDS[verdict]} ({counts[verdict]})")
        for verdict in WORSE_FIRST if counts[verdict]
    ]  # fmt: skip
    return el("fieldset", el("legend", "show"), *boxes)


def _overview(targets: list[tuple[str, TargetReport]]) -> Iterator[ET.Element]:
    """Every target in a row, worst first."""
    if not targets:
        return
    head = el("tr", *(el("th", name, scope="col") for name in ("verdict", "target", "what", "resolution")))
    rows = [_row(anchor, target) for anchor, target in targets]
    box = el("div", el("table", el("thead", head), el("tbody", *rows)), class_="scroll", tabindex="0")
    yield el("section", el("h2", "overview"), box)


def _row(anchor: str, report: TargetReport) -> ET.Element:
    found = decisive_findings(report)
    what = f"{found[0].code} {found[0].message}".strip() if found else ""
    what = what or "".join(f"{len(advised)} advice" for advised in [advice(report)] if advised)
    seen = "" if report.resolution is None else resolution_text(report.resolution).removeprefix("resolution ")
    place = el("span", f"{report.target.path}:{report.target.line}", class_="soft")
    name = el("span", el("a", report.target.name, href=f"#{anchor}"), el("br"), place)
    cells = (badge(report.verdict), name, truncate(what, _LONGEST), seen)
    return el("tr", *(el("td", cell) for cell in cells), class_=report.verdict.value)


def _notices(report: Report) -> Iterator[ET.Element]:
    if report.against:
        head = el("h2", f"weaker than {baseline_changes.revision(report)}")
        yield el("section", head, table(baseline_changes.HEAD, baseline_changes.rows(report)))
    if notices := baseline_changes.other_notices(report):
        rows = [(f"{n.path}:{n.line}", n.code, n.message) for n in notices]
        yield el("section", el("h2", "notices"), table(("place", "code", "message"), rows))


def _environment(report: Report) -> Iterator[ET.Element]:
    rows = list(environment_table(report))
    yield el("dl", *(part for name, value in rows for part in (el("dt", name), el("dd", value))))
