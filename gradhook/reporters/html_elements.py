"""HTML as a tree, so that foreign text stays text, and tables of numbers, steps and a Jacobian."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence

from gradhook.model.results import Finding
from gradhook.model.trace import Curve, Jacobian
from gradhook.reporters.formatting import clean, resolution_text

Child = ET.Element | str | None


def el(name: str, /, *children: Child, **attributes: str) -> ET.Element:
    """An element; texts are escaped, None is skipped, ``class_`` and ``aria_label`` are attributes too."""
    element = ET.Element(name, {key.rstrip("_").replace("_", "-"): clean(text) for key, text in attributes.items()})
    last: ET.Element | None = None
    for child in children:
        if isinstance(child, ET.Element):
            element.append(child)
            last = child
        elif child and last is None:
            element.text = (element.text or "") + clean(child)
        elif child and last is not None:
            last.tail = (last.tail or "") + clean(child)
    return element


def table(head: Iterable[str], rows: Iterable[Iterable[Child]], **attributes: str) -> ET.Element:
    """A table whose first cell of each row is its header; in a box that scrolls, with the keyboard too."""
    top = el("tr", *(el("th", name, scope="col") for name in head))
    body = [el("tr", *(_cell(n, cell) for n, cell in enumerate(row))) for row in rows]
    return el("div", el("table", el("thead", top), el("tbody", *body), **attributes), class_="scroll", tabindex="0")


def _cell(number: int, content: Child) -> ET.Element:
    if isinstance(content, ET.Element) and content.tag in ("td", "th"):
        return content
    return el("th", content, scope="row") if number == 0 else el("td", content)


def preformatted(text: str) -> ET.Element:
    """Foreign lines as they are."""
    shown = "\n".join(clean(line.expandtabs(4)) for line in text.splitlines())
    element = el("pre")
    element.text = shown
    return element


def html_document(*, title: str, style: str, body: Iterable[Child]) -> str:
    """A whole document, which loads nothing and runs nothing."""
    sheet = ET.Element("style")
    sheet.text = style  # our own
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    head = el(
        "head", el("meta", charset="utf-8"), el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", **{"http-equiv": "Content-Security-Policy", "content": policy}),
        el("meta", name="color-scheme", content="light dark"), el("title", title), sheet,
    )  # fmt: skip
    document = el("html", head, el("body", *body), lang="en")
    return "<!doctype html>\n" + ET.tostring(document, encoding="unicode", method="html") + "\n"


_OFF = 1e-6
"""Part of the largest number by which an element must be off to be marked."""


def number_table(finding: Finding, reference: str) -> ET.Element | None:
    """The claimed number and the ``reference`` it was compared with, in a row; None without numbers."""
    if finding.claimed is None and finding.measured is None:
        return None
    bar = "" if finding.error is None else f" ± {finding.error:.1g}"
    claimed, measured = _distinguishable(finding.claimed, finding.measured)
    cells = {
        "mode": finding.mode or "",
        "claimed": claimed,
        reference: measured + bar,
        "tolerance": f"{finding.tolerance:.2g}" if finding.tolerance else "",
        "resolution": "" if finding.resolution is None else resolution_text(finding.resolution),
    }
    filled = {name: text for name, text in cells.items() if text}
    return table(filled, [tuple(filled.values())])


def curve_table(curve: Curve) -> ET.Element:
    """Every step of a ladder with its differences."""
    sides = ("left", "right") if curve.left else ()
    columns = [curve.steps, curve.central, curve.noise, *([curve.left, curve.right] if curve.left else [])]
    head = ("step", "central difference", "rounding", *sides)
    return table(head, [[_number_cell(value) for value in row] for row in zip(*columns, strict=True)])


def jacobian_tables(jacobian: Jacobian, caption: str) -> ET.Element:
    """Claimed, measured and their difference, side by side; what is off is marked by more than colour."""
    difference = tuple(
        tuple(c - m for c, m in zip(*rows, strict=True))
        for rows in zip(jacobian.claimed, jacobian.measured, strict=True)
    )
    size = _largest((*jacobian.claimed, *jacobian.measured))
    parts = (("claimed", jacobian.claimed), ("measured", jacobian.measured), ("claimed less measured", difference))
    return el(
        "figure", el("figcaption", f"{caption}, {jacobian.mode}: a row for each input, a column for each output"),
        el("div", *(_matrix(name, rows, jacobian, size, n == 2) for n, (name, rows) in enumerate(parts)),
           class_="matrices"),
    )  # fmt: skip


def _matrix(name: str, rows: Sequence[Sequence[float]], of: Jacobian, size: float, marks: bool) -> ET.Element:
    body: list[list[Child]] = [[label, *_cells(row, size, marks)] for label, row in zip(of.inputs, rows, strict=True)]
    return el("figure", el("figcaption", name), table((" ", *of.outputs), body))


def _cells(row: Sequence[float], size: float, marks: bool) -> Iterator[ET.Element]:
    for value in row:
        off = marks and not abs(value) <= _OFF * size
        part = min(abs(value) / size, 1.0) if size and math.isfinite(value) else 1.0
        shade = f"background: rgb(var(--{'hot' if value > 0 else 'cold'}) / {0.55 * part:.2f})"
        yield el("td", f"{value:.3g}", class_="number off" if off else "number", style=shade)


def _largest(rows: Sequence[Sequence[float]]) -> float:
    return max((abs(value) for row in rows for value in row if math.isfinite(value)), default=0.0)


def _number_cell(value: float) -> ET.Element:
    return el("td", f"{value:.10g}", class_="number")


def _distinguishable(*values: float | None) -> list[str]:
    """Ten digits, or all of them where ten do not show a difference."""
    known = [value for value in values if value is not None]
    short = {f"{value:.10g}" for value in known}
    alike = len(short) < len(known) and len(set(known)) == len(known)
    return ["" if value is None else repr(value) if alike else f"{value:.10g}" for value in values]
