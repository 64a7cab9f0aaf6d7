"""The checks of a target, one file each; a file that is dropped in here is run.

A check module has ``RULE`` (its code, name and question), ``APPLIES`` (the kinds of claims it is about) and
``run(probe) -> Outcome``. It reads arrays from the probe and decides; it computes no derivative and does no IO.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Protocol, cast

from gradhook.comparison.probe import Probe
from gradhook.model.results import ClaimKind, Outcome, Rule


class Check(Protocol):
    """The contents of every check module."""

    RULE: Rule
    APPLIES: frozenset[ClaimKind]

    @staticmethod
    def run(probe: Probe) -> Outcome:
        """Check a function held at a case."""


def all_checks() -> tuple[Check, ...]:
    """Every check, in the order of the codes."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name.startswith("grd"))
    return tuple(cast(Check, importlib.import_module(f"{__name__}.{name}")) for name in names)
