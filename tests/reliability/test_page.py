"""Does ``docs/reliability.md`` hold what it says: are its tests there, and was nothing lost?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "reliability.md"
ROW = re.compile(r"\| .+ \| `(\w+\.py)::(\w+)` \| ([\d,]+) \| (\d+) \|")
ROWS = [match.groups() for line in PAGE.read_text(encoding="utf-8").splitlines() if (match := ROW.fullmatch(line))]


def test_there_is_a_table() -> None:
    assert len(ROWS) > 30


@pytest.mark.parametrize("file, test, tried, lost", ROWS)
def test_a_row_has_a_test_and_lost_nothing(file: str, test: str, tried: str, lost: str) -> None:
    assert f"\ndef {test}(" in (HERE / file).read_text(encoding="utf-8")
    assert (int(tried.replace(",", "")) > 0, int(lost)) == (True, 0)
