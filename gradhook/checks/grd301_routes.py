"""Does every way to compute the derivative give the same?"""

from __future__ import annotations

import numpy as np

from gradhook.comparison.judge import ADJOINT
from gradhook.comparison.messages import MODE_NAMES, pair
from gradhook.comparison.probe import Fault, Probe, Route
from gradhook.model import ClaimKind, Finding, Outcome, Rule, Verdict, worst

RULE = Rule("GRD301", "routes", "Do vmap and a loop, linearize and jvp, one argument alone and all together agree?")
APPLIES = frozenset({ClaimKind.EXACT})


def run(probe: Probe) -> Outcome:
    """Compare pairs of ways at rounding level; asked only where custom rules, batching rules or callbacks take part."""
    routes = probe.routes()
    if not routes:
        note = "nothing in the function takes part in JAX's transformations, so its routes agree by construction"
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=note)
    findings = tuple(finding for route in routes if (finding := _answer(route, probe)))
    note = "; ".join(dict.fromkeys(f"{r.name} it raises {r.got.message}" for r in routes if isinstance(r.got, Fault)))
    return Outcome(RULE.code, worst([f.verdict for f in findings] or [Verdict.PASS]), probe.case, findings, note=note)


def _answer(route: Route, probe: Probe) -> Finding | None:
    if isinstance(route.got, Fault):
        # Not every function can be mapped (a callback without a vmap method): the note says so, it is no fault.
        return None if route.name == "under vmap" or route.got.missing else _raised(route, route.got, probe)
    with np.errstate(all="ignore"):
        gap = np.abs(route.got - route.expected)
        wrong = ~(gap <= ADJOINT * route.size) & np.isfinite(route.expected)
    if not wrong.any():
        return None
    place = np.unravel_index(int(np.argmax(np.where(wrong, np.nan_to_num(gap, nan=np.inf), -1.0))), gap.shape)
    got, expected = float(route.got[place]), float(route.expected[place])
    numbers = ", otherwise ".join(pair(got, expected))
    return Finding(
        RULE.code, Verdict.FAIL, f"{_mode(route)} {route.name} gives {numbers}",
        case=probe.case, mode=route.mode, order=1, claimed=got, measured=expected, tolerance=ADJOINT, help=_help(route),
    )  # fmt: skip


def _raised(route: Route, fault: Fault, probe: Probe) -> Finding:
    return Finding(
        RULE.code, Verdict.FAIL, f"{_mode(route)} {route.name} raises {fault.message}", case=probe.case,
        mode=route.mode, order=1, path=fault.path or None, line=fault.line or None, help=_help(route),
    )  # fmt: skip


def _mode(route: Route) -> str:
    return MODE_NAMES[route.mode] if route.mode else "the value"


def _help(route: Route) -> str:
    if route.name == "under vmap":
        return "look at custom batching rules (custom_vmap) and at reductions over the wrong axis in a rule"
    if route.name.endswith("alone"):
        return "look at branches of the rule for symbolic zeros or None: they must drop a term, not a factor"
    return "the rule depends on how it is called"
