"""Is the value of a surrogate that of its reference, bit for bit, on every route?"""

from __future__ import annotations

import numpy as np

from gradhook.judge import Array, Flags
from gradhook.messages import number
from gradhook.model import ClaimKind, Finding, Outcome, Rule, Verdict
from gradhook.probe import Contract, Probe

RULE = Rule("GRD201", "surrogate-value", "Is a surrogate's value that of forward=, bit for bit, on every route?")
APPLIES = frozenset({ClaimKind.SURROGATE})


def run(probe: Probe) -> Outcome:
    """Compare the bits of the value plainly called, under jit, vmap, jvp and vjp with those of ``forward``.

    A rule computes the value once more; nothing in JAX checks that it is the same.
    """
    contract = probe.contract()
    if contract is None or contract.reference is None:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="no forward= was declared")
    findings = [f for route, value in contract.values.items() for f in _differences(contract, route, value, probe)]
    return Outcome(RULE.code, Verdict.FAIL if findings else Verdict.PASS, probe.case, tuple(findings), 0.0)


def _differences(contract: Contract, route: str, value: Array, probe: Probe) -> list[Finding]:
    assert contract.reference is not None
    wrong = ~_same_bits(value, contract.reference)
    if not wrong.any():
        return []
    k = int(np.argmax(wrong))
    got, wanted, label = float(value[k]), float(contract.reference[k]), contract.output_labels[k]
    more = f" (and {int(wrong.sum()) - 1} more)" if wrong.sum() > 1 else ""
    return [
        Finding(
            RULE.code, Verdict.FAIL, f"{route} the value of {label} is {number(got)}, forward= gives {number(wanted)}{more}",
            case=probe.case, output=str(label), claimed=got, measured=wanted,
            help="return forward's own value from the rule; x + stop_gradient(f(x) - x) is not exact",
        )
    ]  # fmt: skip


def _same_bits(value: Array, reference: Array) -> Flags:
    """Equal to the last bit, signs of zeros included; a nan equals a nan."""
    same = value.view(np.int64) == reference.astype(np.float64).view(np.int64)
    return np.asarray(same | (np.isnan(value) & np.isnan(reference)))
