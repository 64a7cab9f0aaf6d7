"""Plots of convergence, one-sided slopes and surrogates; the one module that imports pygal.

pygal is pure Python (the extra ``gradhook[html]``), imported only when something is drawn. Its own styles and scripts
are taken out of each drawing: the page has one style for all, so that colours follow the reader's.
"""

from __future__ import annotations

import importlib.util
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from gradhook.model.results import Smoothness
from gradhook.model.trace import Curve, Staircase
from gradhook.reporters.formatting import clean
from gradhook.reporters.html_elements import el

Coordinates = list[tuple[float, float]]
Series = tuple[str, Coordinates, bool]
"""A name, points, and whether it is a guide: a line without dots."""
WIDTH, HEIGHT = 680, 360
_PLACES, _LONG = frozenset({"cx", "cy", "x", "y", "d", "transform"}), re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_OVERLAYS = ("text-overlay", "tooltip-overlay")  # for what its scripts would show
_DROPPED = frozenset({"style", "script", "desc"})
_LEAST, _MOST = 1e-250, 1e250  # between which numbers can be drawn
_MOST_DOTS = 60
_WITHIN = 16  # roundings that explain a distance


def available() -> bool:
    """Whether the plotting library is installed."""
    return importlib.util.find_spec("pygal") is not None


def caption(curve: Curve) -> str:
    """What the drawing of a curve shows."""
    what: dict[str, str] = {
        Smoothness.SMOOTH: "how far differences are off",
        Smoothness.KINK: "the slopes on both sides",
    }
    return f"{curve.of}: {what.get(curve.shape, 'the size of the slopes on both sides')}, by step"


def convergence(curve: Curve) -> ET.Element | None:
    """Error against step, log-log; the one-sided slopes at a kink. None where there is nothing to draw."""
    if curve.shape == Smoothness.SMOOTH:
        return _loglog(_errors(curve), caption(curve))
    if curve.shape == Smoothness.KINK:
        return _slopes(curve)
    sizes = [(name, _positive(zip(curve.steps, map(abs, side), strict=True)), False) for name, side in _sides(curve)]
    return _loglog(sizes, caption(curve))


def staircase(stairs: Staircase) -> ET.Element | None:
    """The value and the derivative by the rule, while one input moves."""
    of = (("value", stairs.value), ("derivative by the rule", stairs.slope))
    series = [
        (name, [p for p in zip(stairs.at, ys, strict=True) if max(map(abs, p)) < _MOST], False) for name, ys in of
    ]
    title = f"{stairs.output} and its derivative along {stairs.input}"
    return _render(series, title, x_title=clean(stairs.input), x_value_formatter=_short, value_formatter=_short)


def _errors(curve: Curve) -> list[Series]:
    """Distances from the claim and from the measurement, what rounding explains, and lines of known slope."""
    central = list(zip(curve.steps, curve.central, strict=True))
    once = [
        (h, (16 * fine - coarse) / 15)
        for (before, coarse), (h, fine) in pairwise(central)
        if math.isclose(before, 4 * h, rel_tol=1e-6)
    ]
    truth = curve.measured if math.isfinite(curve.measured) else curve.claimed
    rounding = dict(zip(curve.steps, curve.noise, strict=True))
    plain, extrapolated = _distances(central, truth), _distances(once, truth)
    return [
        ("off the claim", _distances(central, curve.claimed), False),
        ("off the measured slope", plain, False),
        ("the same, extrapolated once", extrapolated, False),
        ("what rounding explains", _positive(zip(curve.steps, curve.noise, strict=True)), True),
        ("step squared", _guide(plain, 2, rounding), True),
        ("step to the 4th", _guide(extrapolated, 4, rounding), True),
    ]


def _distances(points: Coordinates, of: float) -> Coordinates:
    return _positive((h, abs(value - of)) for h, value in points)


def _positive(points: Iterable[tuple[float, float]]) -> Coordinates:
    return [(h, y) for h, y in points if _LEAST < y < _MOST and _LEAST < h < _MOST]


def _guide(points: Coordinates, power: int, rounding: Mapping[float, float]) -> Coordinates:
    """A line of the slope of truncation, a little above the points it explains; empty for few points."""
    truncated = [(h, y) for h, y in points if y > _WITHIN * rounding[h]]
    if len(truncated) < 2:
        return []
    h0, y0 = truncated[1]
    lowest = min(y for _, y in points)
    try:
        return [(h, y) for h, _ in points if (y := 4 * y0 * (h / h0) ** power) >= lowest]
    except OverflowError:
        return []


def _sides(curve: Curve) -> Iterator[tuple[str, Sequence[float]]]:
    yield "left", curve.left
    yield "right", curve.right


def _slopes(curve: Curve) -> ET.Element | None:
    """At a kink: both one-sided slopes and the claim, by the logarithm of the step."""

    def points(of: Iterable[float]) -> Coordinates:
        pairs = zip(curve.steps, of, strict=True)
        return [(math.log10(h), y) for h, y in pairs if _LEAST < h < _MOST and abs(y) < _MOST]

    series = [(f"slope on the {name}", points(side), False) for name, side in _sides(curve)]
    claim = [curve.claimed] * len(curve.steps)
    return _render(
        [*series, ("claim", points(claim), True)], caption(curve), x_title="step", value_formatter=_short,
        x_value_formatter=_power, x_labels=_decades([x for _, ps, _ in series for x, _ in ps]),
    )  # fmt: skip


def _loglog(series: list[Series], title: str) -> ET.Element | None:
    xs = [math.log10(h) for _, points, _ in series for h, _ in points]
    ys = [math.log10(y) for _, points, _ in series for _, y in points]
    return _render(
        series, title, x_title="step", logarithmic=True, value_formatter=_scientific, x_value_formatter=_scientific,
        x_labels=[10.0**n for n in _decades(xs)], y_labels=[10.0**n for n in _decades(ys)],
    )  # fmt: skip


def _decades(logarithms: Sequence[float]) -> list[int]:
    """Whole powers of ten around some numbers, at most about eight of them."""
    if not logarithms:
        return []
    low, high = math.floor(min(logarithms)), math.ceil(max(logarithms))
    return list(range(low, high + 1, max(1, -(-(high - low) // 8))))


def _render(series: Sequence[Series], title: str, **settings: Any) -> ET.Element | None:
    kept = [one for one in series if len(one[1]) > 1]
    if not kept:
        return None
    import pygal  # here and nowhere else: the rest of gradhook does without

    chart = pygal.XY(
        width=WIDTH, height=HEIGHT, js=[], no_prefix=True, disable_xml_declaration=True, dots_size=3, margin=8,
        margin_right=28, truncate_label=-1, show_legend=False, show_title=False, **settings,
    )  # fmt: skip
    for name, points, guide in kept:
        chart.add(name, points, show_dots=not guide and len(points) <= _MOST_DOTS)
    try:
        root = ET.fromstring(chart.render(is_unicode=True))
    except (ArithmeticError, ValueError):  # its axes do not take any range of numbers; a table has them all the same
        return None
    drawing = _strip_for_page(root, clean(title), [guide for *_, guide in kept])
    return el("div", drawing, _legend(kept)) if len(kept) > 1 else drawing


def _legend(series: Sequence[Series]) -> ET.Element:
    entries = [
        el("li", name, class_=f"color-{n}{' guide-series' * guide}") for n, (name, _, guide) in enumerate(series)
    ]
    return el("ul", *entries, class_="legend")


def _strip_for_page(root: ET.Element, title: str, guides: Sequence[bool]) -> ET.Element:
    """The drawing without styles and scripts for the web, with a name for screen readers."""
    for parent in list(root.iter()):
        parent.tag = parent.tag.rpartition("}")[2]
        for child in list(parent):
            if child.tag.rpartition("}")[2] in _DROPPED or child.get("class", "").endswith(_OVERLAYS):
                parent.remove(child)
        for key, value in parent.items():
            if key in _PLACES:
                parent.set(key, _LONG.sub(lambda number: f"{float(number[0]):.1f}", value))
    for node in root.iter("g"):
        node.attrib.pop("id", None)
        names = node.get("class", "").split()
        if "series" in names and guides[int(names[1].removeprefix("serie-"))]:
            node.set("class", f"{node.get('class')} guide-series")
    kept = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "class": "chart", "role": "img", "aria-label": title}
    root.attrib.clear()
    root.attrib.update(kept)
    for node in [child for child in root if child.tag == "title"]:
        node.text = title
    return root


def _short(value: float) -> str:
    return f"{value:.4g}"


def _scientific(value: float) -> str:
    return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


def _power(logarithm: float) -> str:
    return _scientific(10.0**logarithm)
