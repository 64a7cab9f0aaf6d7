"""Which pages does ``gradhook rule`` show, and in which form?"""

from __future__ import annotations

import json

import pytest

from gradhook.model.rule_docs import codes


def test_a_page(gradhook) -> None:
    said = gradhook("rule", "grd406")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(
        "GRD406 reduced-precision  undecided\nDoes the function compute in less than float64 inside?\n"
    )
    assert "\n    narrow = x.astype(jnp.float32)\n" in said.out.replace("        narrow", "    narrow")


def test_several_pages_and_a_group_each_once(gradhook) -> None:
    said = gradhook("rule", "GRD50", "GRD101", "GRD501", "--output-format", "json")
    assert [page["code"] for page in json.loads(said.out)] == [
        "GRD101", *(code for code in codes() if code.startswith("GRD50")),
    ]  # fmt: skip


def test_all_pages(gradhook) -> None:
    assert gradhook("rule", "--all").out.count("\nWhat it means\n") == len(codes())
    assert gradhook("rule", "--all", "--output-format", "markdown").out.startswith("# Rules\n")


def test_colour_is_asked_for(gradhook) -> None:
    assert "\x1b[" in gradhook("rule", "GRD406", "--color", "always").out
    assert "\x1b[" not in gradhook("rule", "GRD406").out


@pytest.mark.parametrize("arguments", [[], ["--all", "GRD101"]])
def test_one_of_both_is_named(gradhook, arguments: list[str]) -> None:
    said = gradhook("rule", *arguments)
    assert (said.code, said.out) == (2, "")
    assert "name one code or more, or --all" in said.err


@pytest.mark.parametrize(
    ("code", "help"), [("GRD4O6", "did you mean GRD406?"), ("nonsense", "`gradhook rule --all` shows them all")]
)
def test_a_code_that_there_is_not(gradhook, code: str, help: str) -> None:
    said = gradhook("rule", "GRD101", code)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"gradhook: there is no rule '{code}'\n  help: {help}\n"
