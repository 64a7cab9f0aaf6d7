"""Tables of the numbers of a finding, of difference steps and of a Jacobian."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from gradhook.model.plots import Curve, Jacobian
from gradhook.model.results import Finding
from gradhook.reporters.formatting import resolution_text
from gradhook.reporters.html_elements import Child, el, table

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
    return table(head, [[_cell(value) for value in row] for row in zip(*columns, strict=True)])


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


def _cell(value: float) -> ET.Element:
    return el("td", f"{value:.10g}", class_="number")


def _distinguishable(*values: float | None) -> list[str]:
    """Ten digits, or all of them where ten do not show a difference."""
    known = [value for value in values if value is not None]
    short = {f"{value:.10g}" for value in known}
    alike = len(short) < len(known) and len(set(known)) == len(known)
    return ["" if value is None else repr(value) if alike else f"{value:.10g}" for value in values]
