"""HTML as a tree that is written out at once, so that foreign text stays text."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable

from gradhook.reporters.formatting import clean

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
