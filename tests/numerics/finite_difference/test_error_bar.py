"""The error bar holds, whatever the function and its units; ``benchmarks/error_bar.py`` runs ten thousand trials."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "error_bar.py"
BATCHES = 5
"""Of 64 trials each."""


@pytest.fixture(scope="module")
def trials() -> Any:
    return runpy.run_path(str(BENCHMARK))["run"](BATCHES, seed=1)


def test_the_truth_lies_within_the_bar(trials: Any) -> None:
    assert len(trials.truth) >= 300
    assert trials.held.all()


def test_nearly_every_derivative_is_measured(trials: Any) -> None:
    """All but plateaus beside a kink, which differences do not tell from rounding: the equations decide those."""
    others = trials.family != trials.plateaus
    assert trials.accepted[others].mean() >= 0.99


def test_the_bar_is_fine(trials: Any) -> None:
    assert np.nanmedian(trials.resolution) <= 1e-9
    assert np.nanquantile(trials.resolution, 0.95) <= 1e-5
