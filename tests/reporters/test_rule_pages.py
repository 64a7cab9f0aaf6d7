"""Does every page read well in a terminal, and is nothing of it lost to a program?"""

from __future__ import annotations

import json
import re

import pytest

from gradhook.model.rule_docs import RulePage, codes, pages
from gradhook.reporters.display_options import DisplayOptions
from gradhook.reporters.rule_pages import as_json, as_markdown, as_text

PAGE = RulePage(
    "GRD900", "an-example", "Is this a question?", "error",
    {
        "What it means": "A text with `code` in it,\nand **bold** words.\n\nVerdict: **error**, exit code 2.",
        "Usual causes": "- One cause, which is so long that it does not fit.\n- Another.",
        "Fails": "```python\nx = 1  # `kept` as **it** is\n\n\ny = 2\n```",
        "Example": "Before:\n\n```toml\na = 1\n```\n\nAfter.",
    },
    "# whole\n",
)  # fmt: skip
SCREEN = """\
GRD900 an-example  error
Is this a question?

What it means
  A text with `code` in it, and bold
  words.

  Verdict: error, exit code 2.

Usual causes
  - One cause, which is so long that it
    does not fit.
  - Another.

Fails
    x = 1  # `kept` as **it** is


    y = 2

Example
  Before:

    a = 1

  After.
"""


def test_the_screen() -> None:
    assert as_text([PAGE], DisplayOptions(width=40)) == SCREEN


def test_colour_takes_the_place_of_the_marks() -> None:
    painted = as_text([PAGE], DisplayOptions(width=40, color=True))
    assert "\x1b[36mcode\x1b[0m" in painted
    assert "\x1b[1mbold\x1b[0m" in painted
    assert "# `kept` as **it** is" in painted


@pytest.mark.parametrize("code", codes())
def test_every_page_loses_only_its_marks(code: str) -> None:
    (page,) = pages([code])
    text = as_text([page])
    assert re.sub(r"\s|\*\*|#|>|```\w*", "", text).replace(page.verdict, "", 1) == re.sub(
        r"\s|\*\*|#|>|```\w*", "", page.text
    )
    assert max(map(len, text.splitlines())) <= 124  # code is indented and not wrapped


def test_an_object_for_each_page() -> None:
    (item,) = json.loads(as_json([PAGE]))
    assert (item["code"], item["exit_code"], item["fails"]) == (
        "GRD900",
        2,
        "x = 1  # `kept` as **it** is\n\n\ny = 2\n",
    )
    assert (item["example"][:7], item["mend"], item["markdown"]) == ("Before:", None, "# whole\n")
    assert [o["code"] for o in json.loads(as_json(pages(codes())))] == list(codes())


def test_one_page_in_markdown_is_the_page() -> None:
    assert as_markdown([PAGE]) == "# whole\n"
    both = as_markdown([PAGE, PAGE])
    assert both.count("\n## GRD900 an-example\n") == 2
    assert "\n### Fails\n\n```python\n" in both
