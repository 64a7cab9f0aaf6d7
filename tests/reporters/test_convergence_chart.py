"""Does a picture of a ladder show what its numbers say, in the room that there is?"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.model.trace import Curve
from gradhook.reporters.convergence_chart import ROWS, chart_lines

STEPS = tuple(0.75 * 4.0**-k for k in range(1, 12))
NOISE = tuple(1e-16 / h for h in STEPS)


def curve(central: tuple[float, ...], **said: object) -> Curve:
    return Curve("d out / d x", "fwd", 1.0, 1.0, 1e-12, "smooth", STEPS, central, NOISE, **said)  # type: ignore[arg-type]


RIGHT = curve(tuple(1.0 + h * h + n for h, n in zip(STEPS, NOISE, strict=True)))
WRONG = curve(tuple(1.5 + h * h for h in STEPS))


def bars(lines: list[str]) -> list[str]:
    """The columns of a picture, from the top down."""
    rows = [line[8:] for line in lines[1 : 1 + ROWS]]
    return ["".join(row[k : k + 1] or " " for row in rows).strip() for k in range(0, max(map(len, rows)), 2)]


def test_a_right_claim_falls_to_rounding() -> None:
    lines = chart_lines(RIGHT, 60)
    heights = [len(bar) for bar in bars(lines)]
    assert heights[0] == ROWS and heights[:6] == sorted(heights[:6], reverse=True)
    assert set(bars(lines)[-1]) == {"░"}
    assert lines[1].startswith("  1e-1 ┤") and lines[ROWS].startswith(" 1e-15 ┤")
    assert lines[-1].split() == ["step", "0.2", "2e-7"]


def test_a_wrong_claim_stays_up() -> None:
    heights = [len(bar) for bar in bars(chart_lines(WRONG, 60))]
    assert set(heights) == {ROWS}
    assert not any(set(bar) == {"░"} for bar in bars(chart_lines(WRONG, 60)))


def test_a_kink_shows_how_far_its_sides_are_apart() -> None:
    sides = {"left": (-1.0,) * 11, "right": (1.0,) * 11}
    lines = chart_lines(curve((math.nan,) * 11, **sides), 60)
    assert "the two sides lie apart" in lines[0]
    assert {len(bar) for bar in bars(lines)} == {ROWS}


@pytest.mark.parametrize("central", [(math.nan,) * 11, (1.5,) + (math.nan,) * 10])
def test_nothing_to_draw(central: tuple[float, ...]) -> None:
    assert chart_lines(curve(central), 60) == []


ANY = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(st.floats(1e-30, 10), ANY, st.floats(0, 1e300), ANY), min_size=1, max_size=50),
       st.integers(20, 120), st.booleans(), ANY)  # fmt: skip
def test_any_numbers_fit(rows: list[tuple[float, ...]], room: int, blocks: bool, claimed: float) -> None:
    steps, central, noise, left = zip(*rows, strict=True)
    for sides in ((), (left, central)):
        lines = chart_lines(
            Curve("x", "fwd", claimed, 0.0, 0.0, "smooth", steps, central, noise, *sides), room, blocks=blocks
        )
        assert len(lines) in (0, ROWS + 3)
        assert all(len(line) <= room for line in lines[1:-1])
        assert blocks or all(line.isascii() for line in lines)
