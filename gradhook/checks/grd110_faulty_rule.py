"""GRD110: find the custom rule or ``stop_gradient`` that makes a derivative wrong."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradhook.comparison.compare import compare_mode, judge_claim
from gradhook.comparison.judge import Array, Flags, measured_columns
from gradhook.comparison.messages import SOLVED, mode_name, rule_place, solver_help, symbol
from gradhook.comparison.probe import CustomRuleUse, DerivativeComparison, DerivativeError, Probe
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Mode, Outcome, Rule, Verdict

RULE = Rule("GRD110", "guilty-rule", "Which custom rule or stop_gradient inside a function makes its derivative wrong?")
APPLIES = frozenset({ClaimKind.EXACT})
MOST = 12
"""The number of rules that are tried; each costs a program."""


@dataclass(frozen=True)
class FailedValues:
    """The failed values of a mode, and a mask of them, (D, columns)."""

    comparison: DerivativeComparison
    mode: Mode
    claimed: Array
    where: Flags


@dataclass(frozen=True)
class RuleFault:
    """A rule, the failed values that it explains, and the rules removed to find that out."""

    position: int
    where: Flags
    removed: frozenset[int]


def run(probe: Probe) -> Outcome:
    """Replace one rule at a time by its code; report those whose removal makes failed values right.

    If none does it alone, all are replaced but one, and those whose presence spoils the claim are named.
    """
    failed = _first_failed(probe)
    if failed is None:
        return _skip(probe, "no claim that differences measure failed")
    rules_in_use = probe.rules_in_use()
    tried = [k for k, s in enumerate(rules_in_use) if not s.itself][:MOST]
    if not tried:
        return _skip(
            probe, "the only rule is the target's own" if rules_in_use else "no custom rule or stop_gradient inside"
        )
    found = _fixed_by_removal(failed, [k for k in tried if rules_in_use[k].outermost], probe)
    if (failed.where & ~_mended(failed, frozenset(g.position for g in found), probe)).any():
        known = {fault.position for fault in found}
        more = _innermost(_broken_by_presence(failed, tried, frozenset(range(len(rules_in_use))), probe), rules_in_use)
        found += [fault for fault in more if fault.position not in known]
    if not found:
        return _skip(probe, "no custom rule or stop_gradient inside accounts for it")
    findings = tuple(_finding(failed, rules_in_use[fault.position], fault, probe) for fault in found)
    return Outcome(RULE.code, Verdict.FAIL, probe.case, findings)


def _skip(probe: Probe, note: str) -> Outcome:
    return Outcome(RULE.code, Verdict.SKIP, probe.case, note=note)


def _first_failed(probe: Probe) -> FailedValues | None:
    """The first comparison with a failed value; a second order only after a sound first one."""
    first = probe.comparison()
    if isinstance(first, DerivativeError):
        return None
    modes = [mode for mode, claim in first.autodiff.items() if not isinstance(claim, DerivativeError)]
    failed = next((found for mode in modes if (found := _failed_values(first, mode, probe))), None)
    sound = all(compare_mode(first, mode, probe, RULE.code).verdict is Verdict.PASS for mode in modes)
    if failed is not None or not sound:
        return failed
    paths = [p for depth in range(1, probe.order) for p in itertools.product(modes, repeat=depth)]
    comparisons = [
        comparison for path in paths if not isinstance(comparison := probe.comparison(path), DerivativeError)
    ]
    return next((found for s in comparisons for mode in s.autodiff if (found := _failed_values(s, mode, probe))), None)


def _failed_values(comparison: DerivativeComparison, mode: Mode, probe: Probe) -> FailedValues | None:
    claim = comparison.autodiff[mode]
    if isinstance(claim, DerivativeError):
        return None
    defined = np.isfinite(measured_columns(comparison.measured, comparison.columns(mode)).centre)[None, :]
    where = np.asarray((judge_claim(comparison, mode, claim, probe).verdict == Verdict.FAIL) & defined)
    return FailedValues(comparison, mode, claim, where) if where.any() else None


def _mended(failed: FailedValues, removed: frozenset[int], probe: Probe) -> Flags:
    """A mask of the failed values that are right with some of the rules removed."""
    claim = probe.without(removed, failed.comparison.path, failed.mode)
    if isinstance(claim, DerivativeError):
        return np.zeros_like(failed.where)
    answer = judge_claim(failed.comparison, failed.mode, claim, probe).verdict
    return np.asarray(failed.where & (answer == Verdict.PASS) & np.isfinite(claim))


def _fixed_by_removal(failed: FailedValues, tried: Sequence[int], probe: Probe) -> list[RuleFault]:
    """The rules whose removal alone makes some failed values right."""
    faults = [RuleFault(k, _mended(failed, frozenset([k]), probe), frozenset([k])) for k in tried]
    return [fault for fault in faults if fault.where.any()]


def _broken_by_presence(
    failed: FailedValues, tried: Sequence[int], every: frozenset[int], probe: Probe
) -> list[RuleFault]:
    """The rules that alone break what holds without any of them."""
    held = _mended(failed, every, probe)
    if not held.any():
        return []
    faults = [RuleFault(k, held & ~_mended(failed, every - {k}, probe), every) for k in tried]
    return [fault for fault in faults if fault.where.any()]


def _innermost(found: list[RuleFault], rules_in_use: Sequence[CustomRuleUse]) -> list[RuleFault]:
    """Leave out the rules around an accused one, which may only pass on its derivative."""
    around = {place for fault in found for place in rules_in_use[fault.position].under}
    return [g for g in found if (rules_in_use[g.position].path, rules_in_use[g.position].line) not in around]


def _finding(failed: FailedValues, suspect: CustomRuleUse, fault: RuleFault, probe: Probe) -> Finding:
    comparison, mode = failed.comparison, failed.mode
    d, o = _place(failed, fault.where)
    label = comparison.input_labels[d]
    output = comparison.column_labels(mode)[o]
    mended = probe.without(fault.removed, comparison.path, mode)
    claimed, due = (
        float(failed.claimed[d, o]),
        float("nan") if isinstance(mended, DerivativeError) else float(mended[d, o]),
    )
    given, right = pair(claimed, due)
    of_what = f"{mode_name(comparison, mode)} gives {given} for {symbol(comparison, output, label)}"
    near = _is_near(mended, failed, d, o)
    accusation = _accusation(suspect, suspect.iterates and near)
    message = f"{accusation}: {of_what}; {_without(suspect)} {right}, as differences measure"
    path, line = suspect.place
    return Finding(
        RULE.code, Verdict.FAIL, message,
        case=probe.case, mode=mode, order=comparison.order, leaf=label.leaf, index=label.index, output=str(output),
        claimed=claimed, measured=due, path=path, line=line, help=_help(suspect, near),
    )  # fmt: skip


def _place(failed: FailedValues, where: Flags) -> tuple[int, int]:
    """The claim that is farthest off; a coordinate before a direction that moves everything."""
    measured = measured_columns(failed.comparison.measured, failed.comparison.columns(failed.mode)).value
    named = where & np.array([not label.is_direction for label in failed.comparison.input_labels])[:, None]
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(np.abs(failed.claimed - measured), nan=np.inf)
    d, o = np.unravel_index(int(np.argmax(np.where(named if named.any() else where, gap, -1.0))), gap.shape)
    return int(d), int(o)


def _is_near(mended: Array | DerivativeError, failed: FailedValues, d: int, o: int) -> bool:
    """Whether a value is as near to its reference as a solver's tolerance may leave it."""
    if isinstance(mended, DerivativeError):
        return False
    return bool(abs(failed.claimed[d, o] - mended[d, o]) <= SOLVED * np.abs(mended[:, o]).max())


def _accusation(suspect: CustomRuleUse, is_loose: bool) -> str:
    where = f" at {rule_place(suspect)}" if suspect.path else ""
    if suspect.kind == "stop_gradient":
        return f"stop_gradient{where} makes derivative and function disagree"
    used = ", which JAX brings and is used" if suspect.of_jax else ""
    comma = "," if suspect.used[0] else ""
    verb = "differentiates the solution, the value is where its solver stops" if is_loose else "is to blame"
    return f"the {suspect.kind} rule of `{suspect.name}`{used}{where}{comma} {verb}"


def _without(suspect: CustomRuleUse) -> str:
    return "without it this is" if suspect.kind == "stop_gradient" else "with the derivative of its own code this is"


def _help(suspect: CustomRuleUse, is_near: bool) -> str:
    if suspect.kind == "stop_gradient":
        return 'take it away, or say stop_gradient="frozen" if these values are meant to be constants'
    if suspect.iterates and is_near:
        return solver_help(suspect)
    return "differentiate the function's own code by hand and compare it with the rule, term by term"
