"""How much of a slope do loops that stop when floating numbers are close enough leave open?"""

from __future__ import annotations

import numpy as np

from gradhook.comparison.judge import Array
from gradhook.numerics.jaxpr.dependence import Dependence

LOOP = 5e-3
"""A loop that stops at a tolerance: its value is off by that, its slope by a multiple (3e-3 at 1e-4, 4e-6 at 1e-7)."""
CALLBACK = 5e-7
"""A callback, in which there may be such a loop."""


def left_open(found: Dependence) -> Array:
    """The relative error of the slope that iterations may account for, for each pair of leaves; 0 outside of them."""
    return np.where(found.through_loop, LOOP, np.where(found.unseen, CALLBACK, 0.0))
