"""Which custom rule or ``stop_gradient`` inside a function makes its derivative wrong?"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradhook.comparison.compare import compare, judged
from gradhook.comparison.judge import Array, Flags, columns_of
from gradhook.comparison.messages import SOLVED, mode_name, rule_place, solver_help, symbol
from gradhook.comparison.probe import Fault, Label, Probe, Study, Suspect
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Mode, Outcome, Rule, Verdict

RULE = Rule("GRD110", "guilty-rule", "Which custom rule or stop_gradient inside a function makes its derivative wrong?")
APPLIES = frozenset({ClaimKind.EXACT})
MOST = 12
"""So many suspects are tried; each costs a program."""


@dataclass(frozen=True)
class Wrong:
    """A mode's claims that failed, and where, (D, columns)."""

    study: Study
    mode: Mode
    claimed: Array
    where: Flags


@dataclass(frozen=True)
class Guilt:
    """A suspect, which of the failed claims are its work, and what was removed to see that."""

    position: int
    where: Flags
    removed: frozenset[int]


def run(probe: Probe) -> Outcome:
    """Where GRD101, 102 or 103 failed: replace one rule at a time by its code, and see whose absence mends the claim.

    If none does it alone, all are replaced but one, and those whose presence spoils the claim are named.
    """
    wrong = _first_wrong(probe)
    if wrong is None:
        return _skip(probe, "no claim that differences measure failed")
    suspects = probe.suspects()
    tried = [k for k, s in enumerate(suspects) if not s.itself][:MOST]
    if not tried:
        return _skip(
            probe, "the only rule is the target's own" if suspects else "no custom rule or stop_gradient inside"
        )
    found = _menders(wrong, [k for k in tried if suspects[k].outermost], probe)
    if (wrong.where & ~_mended(wrong, frozenset(g.position for g in found), probe)).any():
        known = {guilt.position for guilt in found}
        more = _innermost(_spoilers(wrong, tried, frozenset(range(len(suspects))), probe), suspects)
        found += [guilt for guilt in more if guilt.position not in known]
    if not found:
        return _skip(probe, "no custom rule or stop_gradient inside accounts for it")
    findings = tuple(_finding(wrong, suspects[guilt.position], guilt, probe) for guilt in found)
    return Outcome(RULE.code, Verdict.FAIL, probe.case, findings)


def _skip(probe: Probe, note: str) -> Outcome:
    return Outcome(RULE.code, Verdict.SKIP, probe.case, note=note)


def _first_wrong(probe: Probe) -> Wrong | None:
    """The first study with a failed claim; a second order is looked at only after a sound first one, as GRD103 does."""
    first = probe.study()
    if isinstance(first, Fault):
        return None
    modes = [mode for mode, claim in first.claims.items() if not isinstance(claim, Fault)]
    wrong = next((found for mode in modes if (found := _wrong(first, mode, probe))), None)
    sound = all(compare(first, mode, probe, RULE.code).verdict is Verdict.PASS for mode in modes)
    if wrong is not None or not sound:
        return wrong
    paths = [p for depth in range(1, probe.order) for p in itertools.product(modes, repeat=depth)]
    studies = [study for path in paths if not isinstance(study := probe.study(path), Fault)]
    return next((found for s in studies for mode in s.claims if (found := _wrong(s, mode, probe))), None)


def _wrong(study: Study, mode: Mode, probe: Probe) -> Wrong | None:
    claim = study.claims[mode]
    if isinstance(claim, Fault):
        return None
    defined = np.isfinite(columns_of(study.measured, study.columns(mode)).centre)[None, :]
    where = np.asarray((judged(study, mode, claim, probe).verdict == Verdict.FAIL) & defined)
    return Wrong(study, mode, claim, where) if where.any() else None


def _mended(wrong: Wrong, removed: frozenset[int], probe: Probe) -> Flags:
    """Which of the failed claims hold with some of the suspects removed."""
    claim = probe.without(removed, wrong.study.path, wrong.mode)
    if isinstance(claim, Fault):
        return np.zeros_like(wrong.where)
    answer = judged(wrong.study, wrong.mode, claim, probe).verdict
    return np.asarray(wrong.where & (answer == Verdict.PASS) & np.isfinite(claim))


def _menders(wrong: Wrong, tried: Sequence[int], probe: Probe) -> list[Guilt]:
    """The suspects without which, each alone, some failed claims hold."""
    guilts = [Guilt(k, _mended(wrong, frozenset([k]), probe), frozenset([k])) for k in tried]
    return [guilt for guilt in guilts if guilt.where.any()]


def _spoilers(wrong: Wrong, tried: Sequence[int], every: frozenset[int], probe: Probe) -> list[Guilt]:
    """The suspects that spoil on their own what holds without any of them."""
    held = _mended(wrong, every, probe)
    if not held.any():
        return []
    guilts = [Guilt(k, held & ~_mended(wrong, every - {k}, probe), every) for k in tried]
    return [guilt for guilt in guilts if guilt.where.any()]


def _innermost(found: list[Guilt], suspects: Sequence[Suspect]) -> list[Guilt]:
    """Without the rules around an accused one: theirs may do no more than hand on its derivative."""
    around = {place for guilt in found for place in suspects[guilt.position].under}
    return [g for g in found if (suspects[g.position].path, suspects[g.position].line) not in around]


def _finding(wrong: Wrong, suspect: Suspect, guilt: Guilt, probe: Probe) -> Finding:
    study, mode = wrong.study, wrong.mode
    d, o = _place(wrong, guilt.where)
    label = study.input_labels[d]
    output = Label("combination", (o,)) if mode == "rev" and len(study.weights) else study.output_labels[o]
    mended = probe.without(guilt.removed, study.path, mode)
    claimed, due = float(wrong.claimed[d, o]), float("nan") if isinstance(mended, Fault) else float(mended[d, o])
    given, right = pair(claimed, due)
    of_what = f"{mode_name(study, mode)} gives {given} for {symbol(study, output, label)}"
    near = _is_near(mended, wrong, d, o)
    accusation = _accusation(suspect, suspect.iterates and near)
    message = f"{accusation}: {of_what}; {_without(suspect)} {right}, as differences measure"
    path, line = suspect.place
    return Finding(
        RULE.code, Verdict.FAIL, message,
        case=probe.case, mode=mode, order=study.order, leaf=label.leaf, index=label.index, output=str(output),
        claimed=claimed, measured=due, path=path, line=line, help=_help(suspect, near),
    )  # fmt: skip


def _place(wrong: Wrong, where: Flags) -> tuple[int, int]:
    """The claim that is farthest off; a coordinate before a direction that moves everything."""
    measured = columns_of(wrong.study.measured, wrong.study.columns(wrong.mode)).value
    named = where & np.array([label.leaf != "direction" for label in wrong.study.input_labels])[:, None]
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(np.abs(wrong.claimed - measured), nan=np.inf)
    d, o = np.unravel_index(int(np.argmax(np.where(named if named.any() else where, gap, -1.0))), gap.shape)
    return int(d), int(o)


def _is_near(mended: Array | Fault, wrong: Wrong, d: int, o: int) -> bool:
    """Whether a claim is as near to what it should be as the tolerance of a solver may leave it."""
    if isinstance(mended, Fault):
        return False
    return bool(abs(wrong.claimed[d, o] - mended[d, o]) <= SOLVED * np.abs(mended[:, o]).max())


def _accusation(suspect: Suspect, is_loose: bool) -> str:
    where = f" at {rule_place(suspect)}" if suspect.path else ""
    if suspect.kind == "stop_gradient":
        return f"stop_gradient{where} makes derivative and function disagree"
    used = ", which JAX brings and is used" if suspect.of_jax else ""
    comma = "," if suspect.used[0] else ""
    verb = "differentiates the solution, the value is where its solver stops" if is_loose else "is to blame"
    return f"the {suspect.kind} rule of `{suspect.name}`{used}{where}{comma} {verb}"


def _without(suspect: Suspect) -> str:
    return "without it this is" if suspect.kind == "stop_gradient" else "with the derivative of its own code this is"


def _help(suspect: Suspect, is_near: bool) -> str:
    if suspect.kind == "stop_gradient":
        return 'take it away, or say stop_gradient="frozen" if these values are meant to be constants'
    if suspect.iterates and is_near:
        return solver_help(suspect)
    return "differentiate the function's own code by hand and compare it with the rule, term by term"
