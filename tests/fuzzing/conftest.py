"""The parts of ``benchmarks/fuzzing.py``, of which the tests run a little and always the same."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
