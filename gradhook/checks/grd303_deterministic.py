"""GRD303: two calls with the same arguments agree, and every random key is used once."""

from __future__ import annotations

from gradhook.comparison.agreement import farthest
from gradhook.comparison.judge import ADJOINT
from gradhook.comparison.probe import ConsistencyPair, DerivativeError, Probe
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict

RULE = Rule("GRD303", "deterministic", "Do two calls agree, and is every PRNG key used once?")
APPLIES = frozenset({ClaimKind.EXACT, ClaimKind.SURROGATE})


def run(probe: Probe) -> Outcome:
    """Compare two values up to rounding; run JAX's key-reuse checker where random numbers are drawn."""
    findings = [finding for route in probe.repeated() if (finding := _differs(route, probe))]
    if complaint := probe.reused_keys():
        text = f"a PRNG key is used twice: {complaint}"
        help = "split the key with jax.random.split: equal keys give equal numbers"
        findings.append(Finding(RULE.code, Verdict.FAIL, text, case=probe.case, help=help))
    return Outcome(RULE.code, Verdict.FAIL if findings else Verdict.PASS, probe.case, tuple(findings))


def _differs(route: ConsistencyPair, probe: Probe) -> Finding | None:
    wrong = route.wrong(ADJOINT)
    if isinstance(route.got, DerivativeError) or not wrong.any():
        return None
    place = farthest(route.got, route.expected, wrong)
    got, expected = float(route.got[place]), float(route.expected[place])
    text = f"{route.name} with the same arguments the value is {', before '.join(pair(got, expected))}"
    return Finding(
        RULE.code, Verdict.FAIL, text,
        case=probe.case, claimed=got, measured=expected,
        help="pass random keys and counters as arguments; a global generator or a changed global has no derivative",
    )  # fmt: skip
