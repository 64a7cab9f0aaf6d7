"""The codes and their pages in ``checks/rules``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "checks" / "rules"
_TITLE = re.compile(r"# (GRD\d{3}) (\S+)\n\n> (.+)\n")
_VERDICT = re.compile(r"^Verdict: \*\*(\w+)\*\*", re.MULTILINE)
_WHEN = re.compile(r"^It fails where (.+?)\.(?:\nIt is advice where (.+?)\.)?\n\n", re.MULTILINE | re.DOTALL)
_PART = re.compile(r"^## (.+)\n\n", re.MULTILINE)


@dataclass(frozen=True)
class RulePage:
    """The page of a code: its question, its verdict, and its parts by their headings, as Markdown."""

    code: str
    name: str
    question: str
    verdict: str
    parts: dict[str, str]
    text: str
    fails: str = ""
    """Where it is a failure, in the words after "It fails where"; empty of what never is one."""
    advice: str = ""
    """Where it is advice, that lies beyond the claim."""


@cache
def codes() -> tuple[str, ...]:
    """Every code, in order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("GRD*.md")))


def page(code: str) -> RulePage:
    """The page of a code that exists."""
    text = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    title = _TITLE.match(text)
    verdict = _VERDICT.search(text)
    if title is None or verdict is None:
        raise ValueError(f"the page of {code} has another form")
    _, *rest = _PART.split(text)
    parts = {name: body.strip() for name, body in zip(rest[::2], rest[1::2], strict=True)}
    when = _WHEN.search(text)
    fails, advice = (" ".join((words or "").split()) for words in when.groups()) if when else ("", "")
    return RulePage(code, title[2], title[3], verdict[1], parts, text, fails, advice)


def pages(prefixes: Iterable[str]) -> tuple[RulePage, ...]:
    """The pages of all codes that begin with one of the prefixes, each once."""
    wanted = tuple(prefix.upper() for prefix in prefixes)
    return tuple(page(code) for code in codes() if code.startswith(wanted))
