"""GRD104: compare the derivative by a custom rule with that of the code under the rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradhook.comparison.compare import judge_claim
from gradhook.comparison.judge import Array, Flags, measured_columns
from gradhook.comparison.messages import TRANSFORM_NAMES, rule_place, solver_help, symbol
from gradhook.comparison.probe import CustomRuleUse, DerivativeComparison, DerivativeError, Probe
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Mode, Outcome, Rule, Verdict, worst

RULE = Rule("GRD104", "primal-code", "Is the derivative by a custom rule that of the code which the rule was put on?")
APPLIES = frozenset({ClaimKind.EXACT})
ROUNDING = 1e-9
"""How far the two derivatives may lie apart, relative to the derivative: rounding of two ways to the same number."""
UNRESOLVED = ("GRD405", "GRD406", "GRD407", "GRD408", "GRD409")
"""The causes of doubt in which the derivative exists, and only differences cannot see it."""


@dataclass(frozen=True)
class RuleComparison:
    """The derivatives of a mode by the rule and by the code under it, all of shape (D, columns)."""

    mode: Mode
    claimed: Array
    plain: Array
    verdict: np.ndarray[tuple[int, ...], np.dtype[np.object_]]
    code: np.ndarray[tuple[int, ...], np.dtype[np.object_]]
    agree: Flags
    plain_holds: Flags
    """Where differences bear out the code's own derivative."""


def run(probe: Probe) -> Outcome:
    """Differentiate the function with the code of its rules in their place, and compare at rounding level.

    This corroborates. Where differences bear the rule out, another derivative of the code is no fault: stable formulas
    and implicit solvers have rules because their code has no good derivative. Rules that JAX brings are left alone.
    """
    rules = _rules(probe.rules_in_use())
    comparison = probe.comparison()
    if not rules or isinstance(comparison, DerivativeError):
        return _skip(probe, "the function has no custom rule of its own")
    plain = probe.without(frozenset(rules), (), "fwd")
    if isinstance(plain, DerivativeError):
        return _skip(probe, f"the code under the rules has no derivative: {plain.message}")
    pairs = [
        _both(comparison, mode, claim, plain, probe)
        for mode, claim in comparison.autodiff.items()
        if not isinstance(claim, DerivativeError)
    ]
    answers = [_answer(both, comparison, probe, rules) for both in pairs]
    findings = tuple(f for answer in answers for f in answer.findings)[:1]
    notes = "; ".join(dict.fromkeys(answer.note for answer in answers if answer.note))
    return Outcome(RULE.code, worst([a.verdict for a in answers]), probe.case, findings, note=notes)


def _rules(rules_in_use: tuple[CustomRuleUse, ...]) -> list[int]:
    return [k for k, suspect in enumerate(rules_in_use) if suspect.kind != "stop_gradient" and not suspect.of_jax]


def _skip(probe: Probe, note: str) -> Outcome:
    return Outcome(RULE.code, Verdict.SKIP, probe.case, note=note)


def _both(comparison: DerivativeComparison, mode: Mode, claimed: Array, plain: Array, probe: Probe) -> RuleComparison:
    combined = mode == "rev" and len(comparison.weights) > 0
    with np.errstate(all="ignore"):
        plain = plain @ comparison.weights.T if combined else plain
        measured = measured_columns(comparison.measured, comparison.columns(mode))
        allowed = ROUNDING * np.abs(plain) + probe.rounding((), mode)
        agree = np.abs(claimed - plain) <= allowed
    said, other = judge_claim(comparison, mode, claimed, probe), judge_claim(comparison, mode, plain, probe)
    holds = np.asarray((other.verdict == Verdict.PASS) & np.isfinite(plain))
    known = np.isfinite(measured.centre)[None, :] & np.isfinite(claimed)
    verdict = np.where(known, said.verdict, Verdict.SKIP)
    return RuleComparison(mode, claimed, plain, verdict, said.code, agree, holds)


def _answer(both: RuleComparison, comparison: DerivativeComparison, probe: Probe, numbers: list[int]) -> Outcome:
    rules = [probe.rules_in_use()[number] for number in numbers]
    wrong = (both.verdict == Verdict.FAIL) & ~both.agree & both.plain_holds
    unresolved = (both.verdict == Verdict.UNDECIDED) & np.isin(both.code, UNRESOLVED) & np.isfinite(both.plain)
    if wrong.any():
        if not _is_own(both, comparison, probe, numbers, wrong):
            return _skip(probe, "differences bear out the code and not the rules: GRD110 says which")
        finding = _finding(both, comparison, wrong, Verdict.FAIL, probe, rules)
        return Outcome(RULE.code, Verdict.FAIL, probe.case, (finding,))
    if (unresolved & ~both.agree).any():
        finding = _finding(both, comparison, unresolved & ~both.agree, Verdict.UNDECIDED, probe, rules)
        return Outcome(RULE.code, Verdict.UNDECIDED, probe.case, (finding,))
    if (both.verdict == Verdict.FAIL).any():
        return _skip(probe, "rule and code are not what differences measure")
    return Outcome(RULE.code, Verdict.PASS, probe.case, note=_note(both, unresolved))


def _is_own(
    both: RuleComparison, comparison: DerivativeComparison, probe: Probe, numbers: list[int], wrong: Flags
) -> bool:
    """Whether the target's own rule alone is wrong: without it the claims hold."""
    own = frozenset(number for number in numbers if probe.rules_in_use()[number].itself)
    if not own or len(own) == len(numbers):
        return bool(own)
    alone = probe.without(own, (), "fwd")
    if isinstance(alone, DerivativeError):
        return False
    alone = alone @ comparison.weights.T if both.mode == "rev" and len(comparison.weights) else alone
    return bool((judge_claim(comparison, both.mode, alone, probe).verdict == Verdict.PASS)[wrong].all())


def _note(both: RuleComparison, unresolved: Flags) -> str:
    if unresolved.any():
        return "where differences cannot resolve, the rule agrees with the derivative of its code to 1e-9"
    apart = (both.verdict == Verdict.PASS) & ~both.agree
    if not apart.any():
        return ""
    kind = "is not finite" if not np.isfinite(both.plain[apart]).all() else "is another one"
    return f"the derivative of the code under the rule {kind}, and differences bear the rule out"


def _named(comparison: DerivativeComparison, where: Flags) -> Flags:
    """Of the places those with the plainest names: single inputs, else leaves, else what moves everything."""
    single = np.array([not label.moves_many for label in comparison.input_labels])
    leaf = np.array([not label.is_direction for label in comparison.input_labels])
    return next((where & rows[:, None] for rows in (single, leaf) if where[rows].any()), where)


def _finding(
    both: RuleComparison,
    comparison: DerivativeComparison,
    where: Flags,
    verdict: Verdict,
    probe: Probe,
    rules: list[CustomRuleUse],
) -> Finding:
    shown = _named(comparison, where)
    gap = np.where(shown, np.abs(both.claimed - both.plain), -1.0)
    d, o = (int(k) for k in np.unravel_index(int(np.argmax(gap)), gap.shape))
    label, rule = comparison.input_labels[d], min(rules, key=lambda r: (not r.itself, not r.iterates, not r.outermost))
    path, line = rule.place
    output = comparison.column_labels(both.mode)[o]
    claimed, plain = float(both.claimed[d, o]), float(both.plain[d, o])
    one, other = pair(claimed, plain)
    also = "" if verdict is Verdict.FAIL else "; finite differences cannot tell which of them is right"
    message = (
        f"{symbol(comparison, output, label)}: JAX gives {one} ({TRANSFORM_NAMES[both.mode]}) by the rule of "
        f"`{rule.name}` ({rule_place(rule)}), the derivative of its own code is {other}{also}"
    )
    return Finding(
        RULE.code, verdict, message, case=probe.case, mode=both.mode, order=1, leaf=label.leaf, index=label.index,
        output=str(output), claimed=claimed, measured=plain, tolerance=ROUNDING, path=path,
        line=line, help=_help(rule, verdict),
    )  # fmt: skip


def _help(rule: CustomRuleUse, verdict: Verdict) -> str:
    if rule.iterates and verdict is Verdict.UNDECIDED:
        return solver_help(rule)
    return "compare the rule with the derivative of the function's own code, term by term"
