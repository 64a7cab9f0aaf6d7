"""Does the page say everything, stand alone, and take no text for markup?"""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradhook.model.report import Notice, Report
from gradhook.model.results import ClaimKind, Finding, Outcome, Target, TargetReport, Verdict
from gradhook.model.trace import Curve, Jacobian, Staircase
from gradhook.reporters import html_plots
from gradhook.reporters.html import REMEDY, render

VOID = {"meta", "input", "br"}
with_plots = pytest.mark.skipif(
    not html_plots.available(), reason="pygal, which draws, comes with the extras html and test"
)


class Page(HTMLParser):
    """The elements of a document; every one that was opened must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def words(self) -> str:
        return " ".join("".join(self.texts).split())


def test_it_says_what_the_report_says(rich: Report) -> None:
    page = Page(render(rich, {("a/losses.py", 13): "13 | def huber(x, delta):"}))
    for words in (
        "gradhook: could not run", "1 could not be run, 1 failed", "losses:huber", "GRD102", "the gradient is nan",
        "13 | def huber(x, delta):", "try first: the rule's factor has the wrong sign", "5e-01"[:1],
        "gradhook check a/losses.py -k huber", "\\x1b[31mred", "GRD501", "jaxlib", "-0.5", "0.5 ± 2e-11",
    ):  # fmt: skip
        assert words in page.words, words


def test_it_loads_and_runs_nothing(pictured: Report) -> None:
    text = render(pictured)
    page = Page(text)
    assert not {tag for tag, _ in page.elements} & {"script", "link", "img", "iframe", "object", "base", "form"}
    addresses = [
        value for _, attributes in page.elements for key, value in attributes.items() if key in ("src", "href")
    ]
    assert addresses and all(value and value.startswith("#") for value in addresses)
    assert not re.search(r"https?:|url\(|@import|\bon\w+=", text)
    policy = next(a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none';")


def test_every_link_has_its_place_and_every_name_is_used_once(pictured: Report) -> None:
    page = Page(render(pictured))
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(names)) == len(names)
    assert {str(link["href"]).removeprefix("#") for link in page.all("a")} <= set(names)


def test_a_filter_for_each_verdict_that_there_is(rich: Report) -> None:
    page = Page(render(rich))
    assert [box["id"] for box in page.all("input")] == [
        f"show-{v}" for v in ("error", "fail", "undecided", "pass", "skip")
    ]
    assert len(page.all("label")) == 5
    only = Page(render(replace(rich, targets=rich.targets[:1])))
    assert [box["id"] for box in only.all("input")] == ["show-pass"]


@with_plots
def test_pictures(pictured: Report) -> None:
    page = Page(render(pictured))
    names = [drawing["aria-label"] for drawing in page.all("svg")]
    assert names == [
        "d out / d delta[3]: how far differences are off, by step", "d out / d x: the slopes on both sides, by step",
        "d out / d delta[3]: how far differences are off, by step", "out[0] and its derivative along x[0]",
    ]  # fmt: skip
    assert all(drawing["role"] == "img" for drawing in page.all("svg"))
    for words in ("off the claim", "what rounding explains", "slope on the left", "derivative by the rule",
                  "claimed less measured", "boundaries, case args", "x[0] = 0.5", "and 2 more along x[0]",
                  "0.2-0.51e-16-10"):  # fmt: skip
        assert words in page.words, words


def test_without_the_library_the_numbers_are_there_and_the_remedy(pictured: Report, monkeypatch) -> None:
    monkeypatch.setattr(html_plots, "available", lambda: False)
    page = Page(render(pictured))
    assert page.all("svg") == []
    assert REMEDY in page.words
    assert "central difference" in page.words and "claimed less measured" in page.words


def test_the_same_report_gives_the_same_page(pictured: Report) -> None:
    assert render(pictured) == render(pictured)


def test_nothing_at_all() -> None:
    assert "nothing checked" in Page(render(Report(()))).words


HOSTILE = st.lists(
    st.sampled_from(["<", ">", "&", '"', "'", "</style>", "<script>", "]]>", "<!--", "\x00", "\x1b", "\n", "\udcff",
                     "\u202e", "javascript:", "é", "]"]), min_size=1, max_size=6,
).map("".join)  # fmt: skip


def full_of(text: str) -> Page:
    """A page with this text wherever a text may come from the user's code."""
    numbers = (0.5, 0.125, 0.03125)
    curve = Curve(text, text, 1.0, 1.0, 0.1, "smooth", numbers, (1.5, 1.2, 1.1), numbers)
    jacobian = Jacobian(text, (text,), (text,), ((1.0,),), ((2.0,),))
    stairs = Staircase(text, text, numbers, numbers, numbers)
    outcome = Outcome("GRD207", Verdict.FAIL, text, note=text, curve=curve, jacobian=jacobian, staircases=(stairs,))
    finding = Finding(
        "GRD101", Verdict.FAIL, text, text, text, path=text, line=1, help=text, reproduce=text, curve=curve
    )
    target = Target(text, text, text, 1, 1, ClaimKind.EXACT, text)
    report = Report(
        (TargetReport(target, Verdict.FAIL, (outcome,), (finding,), output=text),), (Notice(text, text, 1, text),),
        {"device": text}, {text: {"value": text, "origin": text}},
    )  # fmt: skip
    return Page(render(report, {(text, 1): text}))


HARMLESS = full_of("x").elements
ATTRIBUTES = {name for _, attributes in HARMLESS for name in attributes}


@settings(max_examples=40)
@given(HOSTILE)
def test_foreign_text_is_text(text: str) -> None:
    page = full_of(text)
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in HARMLESS]
    assert not {name for _, attributes in page.elements for name in attributes} - ATTRIBUTES
    assert all(c.isprintable() or c in " \n" for c in "".join(page.texts))


@with_plots
@settings(max_examples=20)
@given(st.lists(st.tuples(*[st.floats(allow_nan=True, allow_infinity=True)] * 5), max_size=8),
       st.sampled_from(["smooth", "kink", "cusp", "jump", "vertical tangent", "edge of the domain"]))  # fmt: skip
def test_any_numbers_are_drawn_or_left_out(rows: list[tuple[float, ...]], shape: str) -> None:
    steps, central, noise, left, right = zip(*rows, strict=True) if rows else ((),) * 5
    sides = (left, right) if shape != "smooth" else ((), ())
    html_plots.convergence(Curve("x", "fwd", 1.0, 1.0, 0.1, shape, steps, central, noise, *sides))
    html_plots.staircase(Staircase("x", "y", steps, central, left))


def test_five_hundred_targets_are_a_page_that_one_can_send(pictured: Report, tmp_path: Path) -> None:
    many = tuple(
        replace(t, target=replace(t.target, qualname=f"{t.target.qualname}_{n}"))
        for n in range(84)
        for t in pictured.targets
    )
    text = render(replace(pictured, targets=many[:500]))
    assert len(Page(text).all("article")) > 300
    assert len(text.encode()) < 8_000_000
