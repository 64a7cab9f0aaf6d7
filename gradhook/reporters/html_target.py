"""The section of one target in the HTML report: findings, plots and outcomes."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from gradhook.model.results import ClaimKind, Finding, Outcome, TargetReport, Verdict
from gradhook.reporters import html_plots
from gradhook.reporters.boundaries import NAMES, boundary_rows
from gradhook.reporters.display_options import SourceLines
from gradhook.reporters.formatting import (
    advice,
    bias_note,
    checked_derivatives,
    decisive_findings,
    location,
    location_text,
    merge_modes,
    resolution_text,
)
from gradhook.reporters.html_elements import curve_table, el, jacobian_tables, number_table, preformatted, table

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
    """The plot, and its numbers as a table for readers who do not see it."""
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
