"""The HTML report: one page that works from disk, offline, light, dark and in print.

The page loads nothing and runs nothing: the filter is a matter of style. Plots need the extra ``gradhook[html]``;
without it the page has the same numbers in tables, and a note about it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from types import MappingProxyType

from gradhook.model.report import Report
from gradhook.model.results import ClaimKind, Finding, Outcome, TargetReport, Verdict
from gradhook.reporters import html_plots, shared_rows
from gradhook.reporters.display_options import SourceLines
from gradhook.reporters.formatting import (
    WORSE_FIRST,
    advice,
    bias_note,
    checked_derivatives,
    decisive_findings,
    ignored_summary,
    location,
    location_text,
    merge_modes,
    resolution_text,
    summary,
    worst_first,
)
from gradhook.reporters.html_elements import (
    curve_table,
    el,
    html_document,
    jacobian_tables,
    number_table,
    preformatted,
    table,
)
from gradhook.reporters.markdown import truncate
from gradhook.reporters.shared_rows import NAMES, boundary_rows, environment_table

WORDS = {
    Verdict.ERROR: "could not run", Verdict.FAIL: "fail", Verdict.UNDECIDED: "undecided", Verdict.PASS: "pass",
    Verdict.SKIP: "skipped", Verdict.ADVICE: "advice",
}  # fmt: skip


def badge(verdict: Verdict) -> ET.Element:
    """A verdict as a word in its colour."""
    return el("span", WORDS[verdict], class_=f"badge {verdict.value}")


def section(report: TargetReport, anchor: str, sources: SourceLines, draws: bool) -> ET.Element:
    """All about one target."""
    target = report.target
    head = [
        el("h2", badge(report.verdict), " ", el("code", target.name), id=anchor),
        el("p", f"{target.path}:{target.line} · {_kind(report)}", class_="soft"),
    ]
    shown = [*merge_modes(decisive_findings(report)), *advice(report)]
    findings = [_finding(finding, report, sources, draws) for finding in shown]
    pictures = [*_worst_resolved(report, draws), *(p for outcome in report.outcomes for p in _plots(outcome, draws))]
    output = (
        [el("h3", "printed"), preformatted(report.output)]
        if report.output and report.verdict is not Verdict.PASS
        else []
    )
    asked = [_outcomes(report)] if report.outcomes else []
    return el("section", *head, *findings, *pictures, *output, *asked, class_=f"target {report.verdict.value}")


_CLAIMED = {
    ClaimKind.EXACT: "exact derivative",
    ClaimKind.SURROGATE: "surrogate",
    ClaimKind.RULE: "rule without a claim",
}


def _kind(report: TargetReport) -> str:
    surrogate = report.target.claim is ClaimKind.SURROGATE
    parts = [_CLAIMED[report.target.claim]]
    if report.verdict is Verdict.PASS:
        parts = ["surrogate, as declared" if surrogate else checked_derivatives(report)]
    parts += [known] if (known := bias_note(report)) else []
    parts += [resolution_text(report.resolution)] if report.resolution is not None else []
    parts += ["cached"] if report.cached else []
    return " · ".join(parts)


def _finding(finding: Finding, report: TargetReport, sources: SourceLines, draws: bool) -> ET.Element:
    surrogate = report.target.claim is ClaimKind.SURROGATE
    path, line = location(finding, report.target)
    where = location_text(finding, report.target) + (f" · case {finding.case}" if finding.case else "")
    source = sources.get((path, line or 0))
    return el(
        "article", el("p", el("strong", finding.code), _advised(finding), finding.message),
        el("p", where, class_="soft"),
        preformatted(source) if source else None,
        el("p", el("strong", "try first: "), finding.help) if finding.help else None,
        number_table(finding, "declared" if surrogate else "measured"), *_curve(finding, draws),
        el("p", "rerun: ", el("code", finding.reproduce, class_="command")) if finding.reproduce else None,
        class_=finding.verdict.value,
    )  # fmt: skip


def _advised(finding: Finding) -> str:
    return " advice: " if finding.verdict is Verdict.ADVICE else " "


def _curve(of: Finding | Outcome, draws: bool) -> Iterator[ET.Element]:
    """The plot, and its numbers as a table for screen readers."""
    if of.curve is None:
        return
    caption = f"{html_plots.caption(of.curve)}, in {of.code}"
    drawing = html_plots.convergence(of.curve) if draws else None
    figure = [el("figure", drawing, el("figcaption", caption))] if drawing is not None else []
    yield from figure
    yield el("details", el("summary", f"the numbers of {of.code}"), curve_table(of.curve))


def _worst_resolved(report: TargetReport, draws: bool) -> Iterator[ET.Element]:
    """Of a pass: how the differences went that were the least sharp."""
    curves = [outcome for outcome in report.outcomes if outcome.curve]
    if report.verdict is Verdict.PASS and curves:
        yield from _curve(max(curves, key=lambda outcome: outcome.resolution or 0.0), draws)


def _plots(outcome: Outcome, draws: bool) -> Iterator[ET.Element]:
    if outcome.jacobian:
        case = f", case {outcome.case}" if outcome.case else ""
        yield jacobian_tables(outcome.jacobian, f"the Jacobian by {outcome.code}{case}")
    for stairs in outcome.staircases if draws else ():
        if (drawing := html_plots.staircase(stairs)) is not None:
            caption = f"value of {stairs.output} and its derivative by the rule, along {stairs.input}"
            yield el("figure", drawing, el("figcaption", caption))
    if rows := list(boundary_rows(outcome)):
        yield el("h3", "boundaries" + (f", case {outcome.case}" if outcome.case else ""))
        yield table(NAMES, rows)


def _outcomes(report: TargetReport) -> ET.Element:
    rows = [
        (o.code, o.case or "", WORDS[o.verdict], "" if o.resolution is None else resolution_text(o.resolution), o.note)
        for o in report.outcomes
    ]
    seconds = f"compiled in {report.seconds.compile:.2f} s, ran in {report.seconds.run:.2f} s"
    head = ("code", "case", "answer", "resolution", "note")
    return el("details", el("summary", f"all {len(rows)} questions; {seconds}"), table(head, rows))


STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1c1c; --soft: #595959; --line: #d0d0d0; --tint: #f4f4f4;
  --fail: #b3122f; --error: #8a1aa6; --undecided: #8a5a00; --pass: #176b2c; --skip: #595959; --advice: #0b5cad;
  --c0: #b3122f; --c1: #0b5cad; --c2: #00666b; --c3: #6b6b6b; --c4: #6b6b6b; --c5: #6b6b6b; --hot: 179 18 47;
  --cold: 11 92 173; }
@media (prefers-color-scheme: dark) { :root { --paper: #17181a; --ink: #ececec; --soft: #b0b0b0; --line: #45474b;
  --tint: #222427; --fail: #ff8a9a; --error: #e3a1f5; --undecided: #f2c063; --pass: #7fd694; --skip: #b0b0b0;
  --advice: #7db7f5;
  --c0: #ff8a9a; --c1: #7db7f5; --c2: #6fd3d8; --c3: #b0b0b0; --c4: #b0b0b0; --c5: #b0b0b0; --hot: 255 138 154;
  --cold: 125 183 245; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.25; } h1 { margin: 0; } h2 { margin: 0; overflow-wrap: anywhere; font-size: 1.25rem; }
a { color: inherit; } code, pre { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
pre { background: var(--tint); padding: .5rem; overflow-x: auto; overflow-wrap: normal; }
.soft { color: var(--soft); } .command { user-select: all; }
.badge { display: inline-block; min-width: 6.2rem; padding: 0 .5rem; border: 2px solid currentColor;
  border-radius: .3rem;
  text-align: center; font: 600 .85rem/1.5 system-ui, sans-serif; }
.fail { --mark: var(--fail); } .error { --mark: var(--error); } .undecided { --mark: var(--undecided); }
.pass { --mark: var(--pass); } .skip { --mark: var(--skip); } .advice { --mark: var(--advice); }
.badge { color: var(--mark); }
section.target { border-top: 1px solid var(--line); padding: 1rem 0; content-visibility: auto;
  contain-intrinsic-size: auto 20rem; }
article { border-left: .25rem solid var(--mark); padding: .1rem 0 .1rem 1rem; margin: .8rem 0; }
article p { margin: .35rem 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; max-width: 100%; } .scroll:focus-visible, summary:focus-visible, a:focus-visible,
input:focus-visible { outline: 3px solid var(--c1); outline-offset: 2px; }
table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--line); padding: .15rem .5rem; text-align: left; vertical-align: top;
  font-weight: 400; }
thead th { background: var(--tint); font-weight: 600; } td.number { text-align: right; white-space: nowrap; }
td.off { outline: 2px solid var(--fail); outline-offset: -2px; font-weight: 700; }
.matrices { display: flex; flex-wrap: wrap; gap: 1rem; } .matrices > figure { max-width: 100%; }
figure { margin: .6rem 0; } figcaption { color: var(--soft); font-size: .9rem; }
fieldset { border: 1px solid var(--line); margin: 1rem 0; padding: .3rem 1rem; } fieldset label { margin-right:
  1.2rem; }
summary { cursor: pointer; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.chart { display: block; width: 100%; max-width: 46rem; height: auto; }
.chart text { fill: var(--ink); font: 12px system-ui, sans-serif; } .chart .axis.y text { text-anchor: end; }
.chart .axis.x text, .chart .title { text-anchor: middle; } .chart .background { fill: none; }
.chart .guide.line { stroke: var(--line); stroke-width: .6; } .chart .axis > .line { stroke: var(--soft); fill:
  none; }
.chart .series .line { fill: none; stroke: var(--c); stroke-width: 2; }
.chart .color-0 .line { stroke-width: 3; } .chart .color-2 .line { stroke-dasharray: 2 3; }
.chart .guide-series .line { stroke-dasharray: 8 4; stroke-width: 1.3; }
.chart .color-4 .line { stroke-dasharray: 3 3; } .chart .color-5 .line { stroke-dasharray: 1 3; }
.chart .tooltip { display: none; }
.chart .dot { fill: var(--c); stroke: none; }
.color-0 { --c: var(--c0); } .color-1 { --c: var(--c1); } .color-2 { --c: var(--c2); }
.color-3 { --c: var(--c3); } .color-4 { --c: var(--c4); } .color-5 { --c: var(--c5); }
.legend { display: flex; flex-wrap: wrap; gap: 0 1.2rem; list-style: none; margin: .2rem 0; padding: 0; }
.legend li::before { content: ""; display: inline-block; width: 2rem; margin-right: .4rem; vertical-align: middle;
  border-top: 2px solid var(--c); }
.legend .color-0::before { border-top-width: 4px; } .legend .color-2::before { border-top-style: dotted; }
.legend .guide-series::before { border-top-style: dashed; } .legend .color-5::before { border-top-style: dotted; }
body:has(#show-error:not(:checked)) .target.error, body:has(#show-error:not(:checked)) tr.error,
body:has(#show-fail:not(:checked)) .target.fail, body:has(#show-fail:not(:checked)) tr.fail,
body:has(#show-undecided:not(:checked)) .target.undecided, body:has(#show-undecided:not(:checked)) tr.undecided,
body:has(#show-pass:not(:checked)) .target.pass, body:has(#show-pass:not(:checked)) tr.pass,
body:has(#show-skip:not(:checked)) .target.skip, body:has(#show-skip:not(:checked)) tr.skip { display: none; }
@media print { :root { color-scheme: light; } body { max-width: none; padding: 0; font-size: 10pt; } fieldset {
  display: none; }
  section.target { content-visibility: visible; } article, figure, tr { break-inside: avoid; } .scroll {
  overflow: visible; } }
"""


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
        head = el("h2", f"weaker than {shared_rows.revision(report)}")
        yield el("section", head, table(shared_rows.COLUMNS, shared_rows.rows(report)))
    if notices := shared_rows.other_notices(report):
        rows = [(f"{n.path}:{n.line}", n.code, n.message) for n in notices]
        yield el("section", el("h2", "notices"), table(("place", "code", "message"), rows))


def _environment(report: Report) -> Iterator[ET.Element]:
    rows = list(environment_table(report))
    yield el("dl", *(part for name, value in rows for part in (el("dt", name), el("dd", value))))
