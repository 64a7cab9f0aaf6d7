"""Adding a check is one file, one page and one test: none of the three may be missing."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradhook
from gradhook.checks import Check, all_checks
from gradhook.model.results import Rule

PACKAGE = Path(gradhook.__file__).parent
MODULES = sorted(file.stem for file in (PACKAGE / "checks").glob("grd*.py"))


def test_every_module_is_asked() -> None:
    assert [check.RULE.code for check in all_checks()] == [name[:6].upper() for name in MODULES]


@pytest.mark.parametrize("name", MODULES)
def test_a_check_has_its_page(name: str) -> None:
    assert (PACKAGE / "checks" / "rules" / f"{name[:6].upper()}.md").read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("name", MODULES)
def test_a_check_has_its_test(name: str) -> None:
    assert (Path(__file__).parent / f"test_{name}.py").is_file()


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.RULE.code)
def test_a_check_says_what_it_asks_and_of_whom(check: Check) -> None:
    assert isinstance(check.RULE, Rule) and check.RULE.question.endswith("?")
    assert check.APPLIES and check.run.__doc__


def test_names_are_unique() -> None:
    rules = [check.RULE for check in all_checks()]
    assert len({rule.name for rule in rules}) == len({rule.code for rule in rules}) == len(rules)
