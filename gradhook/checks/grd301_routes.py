"""GRD301: every way to compute the derivative gives the same."""

from __future__ import annotations

import numpy as np

from gradhook.comparison.agreement import farthest
from gradhook.comparison.judge import ADJOINT
from gradhook.comparison.messages import MODE_NAMES
from gradhook.comparison.probe import ConsistencyPair, DerivativeError, Probe
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict, worst

RULE = Rule("GRD301", "routes", "Do vmap and a loop, linearize and jvp, one argument alone and all together agree?")
APPLIES = frozenset({ClaimKind.EXACT})
VMAP = "under vmap"


def run(probe: Probe) -> Outcome:
    """Compare pairs of programs at rounding level, where the user's code could make them differ."""
    routes = probe.routes()
    if not routes:
        note = "no rule in the function could tell JAX's transformations apart, so its routes agree by construction"
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=note)
    found = [finding for route in routes if (finding := _answer(route, probe))]
    advice = [finding for finding in found if finding.verdict is Verdict.ADVICE]
    advice = advice[:1] if _may_advise(routes, probe) else []
    findings = (*(finding for finding in found if finding.verdict is not Verdict.ADVICE), *advice)
    missed = [_not_compared(route.name, route.got) for route in routes if isinstance(route.got, DerivativeError)]
    passed = Verdict.PASS if len(missed) < len(routes) else Verdict.SKIP
    verdict = worst([f.verdict for f in findings] or [passed])
    return Outcome(RULE.code, verdict, probe.case, findings, note="; ".join(dict.fromkeys(missed)))


def _not_compared(name: str, fault: DerivativeError) -> str:
    return f"{name}: {fault.message}" if fault.missing else f"{name} it raises {fault.message}"


def _may_advise(routes: list[ConsistencyPair], probe: Probe) -> bool:
    """Whether the value can be mapped and GRD205 does not already report that its derivative cannot."""
    mapped = not any(
        route.name == VMAP and route.mode is None and isinstance(route.got, DerivativeError) for route in routes
    )
    rule_probe = probe.rule_probe()
    return mapped and (rule_probe is None or bool(rule_probe.reason))


def _answer(route: ConsistencyPair, probe: Probe) -> Finding | None:
    if isinstance(route.got, DerivativeError):
        # Not every function can be mapped (a callback without a vmap method), and that is part of no claim: the note
        # reports it, and where the value can be mapped but not the derivative, that is advice.
        return None if route.got.missing else _raised(route, route.got, probe)
    wrong = route.wrong(ADJOINT)
    if route.mode:  # 0 times infinity is nan in one way and left out in another: such a derivative is GRD105's
        wrong &= np.isfinite(route.expected)
    if not wrong.any():
        return None
    place = farthest(route.got, route.expected, wrong)
    got, expected = float(route.got[place]), float(route.expected[place])
    numbers = ", otherwise ".join(pair(got, expected))
    return Finding(
        RULE.code, Verdict.FAIL, f"{_mode(route)} {route.name} gives {numbers}",
        case=probe.case, mode=route.mode, order=1, claimed=got, measured=expected, tolerance=ADJOINT, help=_help(route),
    )  # fmt: skip


def _raised(route: ConsistencyPair, fault: DerivativeError, probe: Probe) -> Finding:
    if route.name == VMAP:
        text = f"not differentiable under vmap: {_mode(route)} raises {fault.message.partition(':')[0]}"
        return Finding(
            RULE.code, Verdict.ADVICE, text, case=probe.case, mode=route.mode, order=1, path=fault.path or None,
            line=fault.line or None, help=f"{_help(route)}: {fault.message}",
        )  # fmt: skip
    return Finding(
        RULE.code, Verdict.FAIL, f"{_mode(route)} {route.name} raises {fault.message}", case=probe.case,
        mode=route.mode, order=1, path=fault.path or None, line=fault.line or None, help=_help(route),
    )  # fmt: skip


def _mode(route: ConsistencyPair) -> str:
    return MODE_NAMES[route.mode] if route.mode else "the value"


def _help(route: ConsistencyPair) -> str:
    if route.name == VMAP:
        return "look at custom batching rules (custom_vmap) and at reductions over the wrong axis in a rule"
    if route.name.endswith("alone"):
        return "look at branches of the rule for symbolic zeros or None: they must drop a term, not a factor"
    return "the rule depends on how it is called"
