"""GRD201: the value of a surrogate equals that of its reference, bit for bit, on every route."""

from __future__ import annotations

import numpy as np

from gradhook.comparison.agreement import differ, same_bits
from gradhook.comparison.judge import SURROGATE, Array, Flags
from gradhook.comparison.probe import DerivativeError, Probe
from gradhook.comparison.surrogate_probe import SurrogateProbe, SurrogateValues
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict, worst

RULE = Rule("GRD201", "surrogate-value", "Is a surrogate's value that of forward=, bit for bit, on every route?")
APPLIES = frozenset({ClaimKind.SURROGATE, ClaimKind.RULE})
_HELP_RULE = "a rule computes the value once more: it must be that of the function"
_HELP = "return forward's own value from the rule; x + stop_gradient(f(x) - x) is not exact"


def run(probe: Probe) -> Outcome:
    """Compare the value's bits, plain and under every transformation, with those of ``forward``.

    A rule computes the value once more; nothing in JAX checks that it is the same. The sign of a zero alone is advice,
    for a route may lose it although each of its steps is right. The points of a sweep through the input's domain are
    compared too. The reference of an unclaimed rule is the function itself, up to rounding.
    """
    surrogate_values = probe.surrogate_values()
    rule_probe = probe.rule_probe()
    if rule_probe is None:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="the function is no custom rule")
    if surrogate_values is None or not surrogate_values.references:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="no forward= was declared")
    found = [_route(surrogate_values, route, value, probe) for route, value in surrogate_values.values.items()]
    advice = [finding for finding in found if finding is not None and finding.verdict is Verdict.ADVICE]
    findings = _alike([finding for finding in found if finding is not None and finding.verdict is Verdict.FAIL])
    findings = findings or (_mismatches(rule_probe, probe) if probe.is_surrogate else []) or advice[:1]
    verdict = worst([finding.verdict for finding in findings] or [Verdict.PASS])
    return Outcome(RULE.code, verdict, probe.case, tuple(findings), 0.0)


def _route(
    surrogate_values: SurrogateValues, route: str, value: Array | DerivativeError, probe: Probe
) -> Finding | None:
    if isinstance(value, DerivativeError):
        # GRD205 reports, as advice, what cannot be mapped at all.
        return None if value.missing or route == "under vmap" else _raised(route, value, probe)
    # An exact rule may well compute the same number in another way.
    wrong = np.all(
        [~_equal(value, reference, surrogate_values, probe) for reference in surrogate_values.references], axis=0
    )
    if not wrong.any():
        return None
    more_than_a_sign = wrong & np.all([value != reference for reference in surrogate_values.references], axis=0)
    if not more_than_a_sign.any():
        return _signed(route, probe)
    wrong = more_than_a_sign
    k = int(np.argmax(wrong))
    got, wanted, label = float(value[k]), float(surrogate_values.references[0][k]), surrogate_values.value_labels[k]
    more = f" (and {int(wrong.sum()) - 1} more)" if wrong.sum() > 1 else ""
    return Finding(
        RULE.code, Verdict.FAIL,
        f"{route} the value of {label} is {_beside(got, wanted, probe.is_surrogate)}{more}",
        case=probe.case, output=str(label), claimed=got, measured=wanted,
        help=_HELP if probe.is_surrogate else _HELP_RULE,
    )  # fmt: skip


def _equal(value: Array, reference: Array, surrogate_values: SurrogateValues, probe: Probe) -> Flags:
    if probe.is_surrogate:
        return same_bits(value, reference)
    return ~differ(value, reference, SURROGATE, surrogate_values.value_rounding)


def _signed(route: str, probe: Probe) -> Finding:
    return Finding(
        RULE.code, Verdict.ADVICE, f"{route} the value differs from that of forward= in the sign of a zero",
        case=probe.case, help=_HELP,
    )  # fmt: skip


def _raised(route: str, fault: DerivativeError, probe: Probe) -> Finding:
    return Finding(
        RULE.code, Verdict.FAIL, f"{route} it raises {fault.message}", case=probe.case,
        path=fault.path or None, line=fault.line or None, help="called plainly it returns a value: so must every route",
    )  # fmt: skip


def _alike(findings: list[Finding]) -> list[Finding]:
    """Keep the first finding if the plain value is wrong: every route repeats it."""
    return findings[:1] if findings and findings[0].message.startswith("called plainly") else findings


def _mismatches(rule_probe: SurrogateProbe, probe: Probe) -> list[Finding]:
    mismatches = [s for sweep in rule_probe.sweeps() for s in sweep.mismatches if not s.tangent]
    return [
        Finding(
            RULE.code, Verdict.FAIL,
            f"at {s.input} = {s.at!r} the value of {s.output} is {_beside(s.got, s.wanted, True)}",
            case=probe.case, leaf=s.input, output=s.output, claimed=s.got, measured=s.wanted, help=_HELP,
        )
        for s in mismatches[:1]
    ]  # fmt: skip


def _beside(got: float, wanted: float, is_surrogate: bool) -> str:
    one, other = pair(got, wanted)
    return f"{one}, {'forward= gives' if is_surrogate else 'called plainly it is'} {other}"
