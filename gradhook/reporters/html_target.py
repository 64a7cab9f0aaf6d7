"""How does the HTML report tell about one target: its findings, their pictures, and what else was asked?"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping

from gradhook.model.results import ClaimKind, Finding, Outcome, TargetReport, Verdict
from gradhook.reporters import html_plots
from gradhook.reporters.boundaries import NAMES, boundary_rows
from gradhook.reporters.formatting import advice, answers, asked, bias, both_modes, place, resolution, spot
from gradhook.reporters.html_elements import el, lines, table
from gradhook.reporters.html_numbers import curve_table, matrices, numbers

Sources = Mapping[tuple[str, int], str]
WORDS = {
    Verdict.ERROR: "could not run", Verdict.FAIL: "fail", Verdict.UNDECIDED: "undecided", Verdict.PASS: "pass",
    Verdict.SKIP: "skipped", Verdict.ADVICE: "advice",
}  # fmt: skip


def badge(verdict: Verdict) -> ET.Element:
    """A verdict as a word in its colour."""
    return el("span", WORDS[verdict], class_=f"badge {verdict.value}")


def section(report: TargetReport, anchor: str, sources: Sources, draws: bool) -> ET.Element:
    """All about one target."""
    target = report.target
    head = [
        el("h2", badge(report.verdict), " ", el("code", target.name), id=anchor),
        el("p", f"{target.path}:{target.line} · {_kind(report)}", class_="soft"),
    ]
    said = [*both_modes(answers(report)), *advice(report)]
    findings = [_finding(finding, report, sources, draws) for finding in said]
    pictures = [*_worst_resolved(report, draws), *(p for outcome in report.outcomes for p in _pictures(outcome, draws))]
    output = [el("h3", "printed"), lines(report.output)] if report.output and report.verdict is not Verdict.PASS else []
    asked = [_questions(report)] if report.outcomes else []
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
        parts = ["surrogate, as declared" if surrogate else asked(report)]
    parts += [known] if (known := bias(report)) else []
    parts += [resolution(report.resolution)] if report.resolution is not None else []
    return " · ".join(parts + ["cached"] * report.cached)


def _finding(finding: Finding, report: TargetReport, sources: Sources, draws: bool) -> ET.Element:
    surrogate = report.target.claim is ClaimKind.SURROGATE
    path, line = spot(finding, report.target)
    where = place(finding, report.target) + (f" · case {finding.case}" if finding.case else "")
    source = sources.get((path, line or 0))
    return el(
        "article", el("p", el("strong", finding.code), _advised(finding), finding.message),
        el("p", where, class_="soft"),
        lines(source) if source else None, el("p", el("strong", "try first: "), finding.help) if finding.help else None,
        numbers(finding, "declared" if surrogate else "measured"), *_curve(finding, draws),
        el("p", "again: ", el("code", finding.reproduce, class_="command")) if finding.reproduce else None,
        class_=finding.verdict.value,
    )  # fmt: skip


def _advised(finding: Finding) -> str:
    return " advice: " if finding.verdict is Verdict.ADVICE else " "


def _curve(of: Finding | Outcome, draws: bool) -> Iterator[ET.Element]:
    """The plot, with its numbers for those who do not see it."""
    if of.curve is None:
        return
    caption = f"{html_plots.subject(of.curve)}, in {of.code}"
    drawing = html_plots.convergence(of.curve) if draws else None
    figure = [el("figure", drawing, el("figcaption", caption))] if drawing is not None else []
    yield from figure
    yield el("details", el("summary", f"the numbers of {of.code}"), curve_table(of.curve))


def _worst_resolved(report: TargetReport, draws: bool) -> Iterator[ET.Element]:
    """Of a pass: how the differences went that were the least sharp."""
    curves = [outcome for outcome in report.outcomes if outcome.curve]
    if report.verdict is Verdict.PASS and curves:
        yield from _curve(max(curves, key=lambda outcome: outcome.resolution or 0.0), draws)


def _pictures(outcome: Outcome, draws: bool) -> Iterator[ET.Element]:
    if outcome.jacobian:
        case = f", case {outcome.case}" if outcome.case else ""
        yield matrices(outcome.jacobian, f"the Jacobian by {outcome.code}{case}")
    for stairs in outcome.staircases if draws else ():
        if (drawing := html_plots.staircase(stairs)) is not None:
            caption = f"value of {stairs.output} and its derivative by the rule, along {stairs.input}"
            yield el("figure", drawing, el("figcaption", caption))
    if rows := list(boundary_rows(outcome)):
        yield el("h3", "boundaries" + (f", case {outcome.case}" if outcome.case else ""))
        yield table(NAMES, rows)


def _questions(report: TargetReport) -> ET.Element:
    rows = [
        (o.code, o.case or "", WORDS[o.verdict], "" if o.resolution is None else resolution(o.resolution), o.note)
        for o in report.outcomes
    ]
    seconds = f"compiled in {report.seconds.compile:.2f} s, ran in {report.seconds.run:.2f} s"
    head = ("code", "case", "answer", "resolution", "note")
    return el("details", el("summary", f"all {len(rows)} questions; {seconds}"), table(head, rows))
