"""The pages of codes as terminal text, Markdown and JSON."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Sequence

from gradhook.model.rule_docs import RulePage
from gradhook.reporters.display_options import DEFAULT_DISPLAY, DisplayOptions

_EXITS = {"notice": 0, "fail": 1, "undecided": 1, "error": 2}
_KEYS = {
    "What it means": "meaning",
    "Usual causes": "causes",
    "How to mend it": "mend",
    "Fails": "fails",
    "Mended": "mended",
    "Example": "example",
}
_STYLES = {"notice": "36", "fail": "1;31", "undecided": "1;33", "error": "1;31"}
_GROUPS = {
    "1": "Exact claims", "2": "Surrogates and custom rules", "3": "All claims", "4": "Undecided, and what was tested",
    "5": "Notices of the scan and of comments", "9": "Could not run",
}  # fmt: skip
_FENCE = "```"
_HEAD = """\
# Rules

Every answer of gradhook has a code. This page is what `gradhook rule --all --output-format markdown` writes; in a
terminal, `gradhook rule GRD406` shows one of them. The examples are run by gradhook's own tests.

"""


def as_text(pages: Sequence[RulePage], options: DisplayOptions = DEFAULT_DISPLAY) -> str:
    """Pages for a terminal, wrapped; code stays as it is, so that it can be copied."""
    return "\n\n".join("\n".join(_lines(page, options)) for page in pages) + "\n"


def as_markdown(pages: Sequence[RulePage]) -> str:
    """One page as it is written; several as one document with a table in front."""
    if len(pages) == 1:
        return pages[0].text
    return _HEAD + "\n".join([*_index(pages), *_failure_table(pages), *(_section(page) for page in pages)])


def as_json(pages: Sequence[RulePage]) -> str:
    """A list of objects; ``markdown`` is the whole page."""
    return json.dumps([_object(page) for page in pages], indent=2, ensure_ascii=False) + "\n"


def _lines(page: RulePage, options: DisplayOptions) -> Iterator[str]:
    title = f"{page.code} {page.name}"
    yield f"{options.paint(title, '1')}  {options.paint(page.verdict, _STYLES.get(page.verdict, '1'))}"
    yield from textwrap.wrap(page.question, options.width)
    for name, body in page.parts.items():
        yield from ("", options.paint(name, "1"))
        yield from _body(body, options)


def _body(body: str, options: DisplayOptions) -> Iterator[str]:
    """Text and code in turn."""
    for n, part in enumerate(re.split(rf"^{_FENCE}\w*(?:\n|\Z)", body, flags=re.MULTILINE)):
        if not part.strip():
            continue
        yield from [""] if n > 1 or (n and not body.startswith(_FENCE)) else []
        if n % 2:
            yield from (f"    {line}".rstrip() for line in part.rstrip("\n").split("\n"))
        else:
            yield from _text(part.strip("\n"), options)


def _text(text: str, options: DisplayOptions) -> Iterator[str]:
    for n, paragraph in enumerate(text.split("\n\n")):
        yield from [""] if n else []
        for item in re.split(r"\n(?=- )", paragraph):
            hang = "    " if item.startswith("- ") else "  "
            words = " ".join(item.split())
            lines = textwrap.wrap(
                words, options.width, initial_indent="  ", subsequent_indent=hang, break_on_hyphens=False,
                break_long_words=False,
            )  # fmt: skip
            yield from _inline_markup("\n".join(lines), options).split("\n")


def _inline_markup(text: str, options: DisplayOptions) -> str:
    """Code and bold face: painted, or for code left between its marks where there is no colour."""
    text = re.sub(r"\*\*(.+?)\*\*", lambda m: options.paint(m[1], "1"), text, flags=re.DOTALL)
    if not options.color:
        return text
    return re.sub(r"`([^`]+)`", lambda m: "\n".join(options.paint(line, "36") for line in m[1].split("\n")), text)


def _index(pages: Sequence[RulePage]) -> Iterator[str]:
    group = ""
    for page in pages:
        if page.code[3] != group:
            group = page.code[3]
            yield f"**{_GROUPS.get(group, 'Others')}**\n\n| code | name | question | verdict |\n|---|---|---|---|"
        anchor = f"{page.code} {page.name}".lower().replace(" ", "-")
        end = "\n" if page is pages[-1] or _next(pages, page).code[3] != group else ""
        yield f"| [{page.code}](#{anchor}) | {page.name} | {page.question} | {page.verdict} |{end}"


def _failure_table(pages: Sequence[RulePage]) -> Iterator[str]:
    """What fails, and what is only advice, of the codes that can fail."""
    if not any(page.fails for page in pages):
        return
    yield "**What fails, and what is advice**\n\n| code | fails where | is advice where |\n|---|---|---|"
    yield from (f"| {page.code} | {page.fails} | {page.advice} |" for page in pages if page.fails)
    yield ""


def _next(pages: Sequence[RulePage], page: RulePage) -> RulePage:
    return pages[pages.index(page) + 1]


def _section(page: RulePage) -> str:
    """A page one level further down."""
    parts = "".join(f"### {name}\n\n{body}\n\n" for name, body in page.parts.items())
    return f"## {page.code} {page.name}\n\n> {page.question}\n\n{parts}"


def _object(page: RulePage) -> dict[str, object]:
    parts = {key: _unfenced(page.parts.get(name)) for name, key in _KEYS.items()}
    return {
        "code": page.code, "name": page.name, "question": page.question, "verdict": page.verdict,
        "fails_where": page.fails or None, "advice_where": page.advice or None,
        "exit_code": _EXITS.get(page.verdict), **parts, "markdown": page.text,
    }  # fmt: skip


def _unfenced(body: str | None) -> str | None:
    """A part that is nothing but code, without its fences."""
    code = re.fullmatch(rf"{_FENCE}\w*\n(.*?\n){_FENCE}", body or "", re.DOTALL)
    return code[1] if code else body
