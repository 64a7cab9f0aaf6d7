"""What does gradhook say about right (and some wrong) derivatives of JAX's public functions?"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

import oracle
from catalogue.records import Entry, Mark
from gradhook.annotations import case
from gradhook.model import CheckSettings, ClaimKind, Finding, Outcome, Target, Verdict, worst
from gradhook.worker.examine import examine
from sharing import shared_programs

FIRST = ("GRD101", "GRD102", "GRD105", "GRD902", "GRD904", "GRD909")


@dataclass(frozen=True)
class Answer:
    """What was said about one function at one point in one order, and how that compares with what is right."""

    name: str
    point: str
    order: int
    verdict: Verdict
    findings: tuple[Finding, ...]
    resolution: float | None
    wanted: str
    mark: Mark | None
    proof: str
    """``right`` or ``wrong``: JAX's derivative, by the oracle; empty where there is none."""


def scan(entry: Entry, rtol: float | None = None, family: dict[str, Any] | None = None) -> list[Answer]:
    """Examine one function at all its points, both orders and modes."""
    options = {"cases": {name: case(*args) for name, args in entry.points.items()}, "order": entry.order}
    if entry.modes:
        options["modes"] = entry.modes
    settings = CheckSettings() if rtol is None else CheckSettings(rtol=rtol)
    target = Target("catalogue", entry.name, "catalogue.py", 1, 1, ClaimKind.EXACT, "/")
    with jax.enable_x64(True), shared_programs(family):
        report = examine(entry.call, target, options, settings, lambda name: None)
        proofs = {name: _proofs(entry, name) for name in entry.points}
    return [
        _answer(entry, name, order, [o for o in report.outcomes if o.case in (name, None)], proofs[name])
        for name in entry.points
        for order in range(1, entry.order + 1)
    ]


def _answer(entry: Entry, name: str, order: int, outcomes: list[Outcome], proofs: dict[int, str]) -> Answer:
    mine = [o for o in outcomes if ("GRD103" == o.code) == (order == 2) and (order == 2 or o.code in (*FIRST, "GRD410"))]
    found = [o for o in mine if o.verdict is not Verdict.SKIP]
    mark = entry.marks.get(name)
    speaks = mark is not None and (mark.order == order or (mark.order == 1 and order == 2))
    wanted = mark.verdict if mark and speaks else "pass"
    seen = [o.resolution for o in found if o.resolution is not None]
    return Answer(
        entry.name, name, order, worst([o.verdict for o in found]), tuple(f for o in mine for f in o.findings),
        max(seen, default=None), wanted, mark if speaks else None, proofs.get(order, ""),
    )  # fmt: skip


def _proofs(entry: Entry, name: str) -> dict[int, str]:
    truth = oracle.true(entry, entry.points[name])
    if truth is None:
        return {}
    found = {}
    x = np.concatenate([np.ravel(a) for a in entry.points[name]])
    try:
        claims = [oracle.claimed(entry, entry.points[name], mode) for mode in entry.modes or ("fwd", "rev")]
    except Exception:  # a mode that the function does not have, or JAX fails: nothing to prove
        return {}
    for order, (before, right) in enumerate(itertools.pairwise(truth), 1):
        size = np.abs(before[..., None]) / np.maximum(1.0, np.abs(x))
        bad = any(oracle.differs(claim[order - 1], right, size) for claim in claims)
        found[order] = "wrong" if bad else "right"
    return found
