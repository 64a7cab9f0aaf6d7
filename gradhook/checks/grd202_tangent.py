"""GRD202: the derivative of a surrogate is the declared one, in each mode."""

from __future__ import annotations

import dataclasses

import numpy as np

from gradhook.comparison.compare import compare_mode
from gradhook.comparison.judge import SURROGATE, Array, Flags
from gradhook.comparison.messages import MODE_NAMES, TRANSFORM_NAMES, file_line
from gradhook.comparison.probe import CustomRuleUse, DerivativeError, Probe
from gradhook.comparison.surrogate_probe import SurrogateProbe, SurrogateValues
from gradhook.model.digits import pair
from gradhook.model.results import ClaimKind, Finding, Mode, Outcome, Rule, Verdict, worst

RULE = Rule("GRD202", "surrogate-derivative", "Is a surrogate's derivative the declared one, in each mode?")
APPLIES = frozenset({ClaimKind.SURROGATE})
TINY = float(np.finfo(np.float64).tiny)


def run(probe: Probe) -> Outcome:
    """Compare every mode with ``derivative_of``, ``rule`` or ``tangent=`` at rounding level.

    Differences of the function have no part in it. They are taken where they are evidence: of ``derivative_of`` itself,
    and of the arguments in which the derivative is claimed to be exact.
    """
    values = probe.surrogate_values()
    declared = values is not None and not np.isnan(values.declared).all()
    outcomes = [_mode(values, mode, probe) for mode in values.autodiff] if values and declared else []
    outcomes = _explained(outcomes, probe.rule_probe())
    compared = any(o.verdict is not Verdict.SKIP for o in outcomes) or not declared
    if all(o.verdict in (Verdict.PASS, Verdict.SKIP) for o in outcomes):
        outcomes += [*_measured(probe), *_mismatches(probe)]
    if not outcomes:
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note="no derivative was declared")
    answered = [o for o in outcomes if o.verdict is not Verdict.SKIP]
    notes = "; ".join(dict.fromkeys(o.note for o in outcomes if o.note))
    findings = tuple(f for o in outcomes for f in o.findings)
    seen = max([SURROGATE, *(o.resolution for o in answered if o.resolution is not None)])
    pictured = next((o for o in outcomes if o.curve or o.jacobian), None)
    verdict = worst([o.verdict for o in answered])
    if verdict is Verdict.PASS and not compared:  # only derivative_of= itself was found right
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=notes)
    return Outcome(
        RULE.code, verdict, probe.case, findings, seen, notes,
        pictured.curve if pictured else None, pictured.jacobian if pictured else None,
    )  # fmt: skip


def _mode(values: SurrogateValues, mode: Mode, probe: Probe) -> Outcome:
    claim = values.autodiff[mode]
    if isinstance(claim, DerivativeError):
        if claim.missing and probe.modes is None:
            return Outcome(RULE.code, Verdict.SKIP, probe.case, note=f"{MODE_NAMES[mode]}: {claim.message}")
        text = f"{MODE_NAMES[mode]} raises {claim.message}" if not claim.missing else claim.message
        finding = Finding(
            RULE.code, Verdict.FAIL, text, case=probe.case, mode=mode, path=claim.path or None, line=claim.line or None
        )
        return Outcome(RULE.code, Verdict.FAIL, probe.case, (finding,))
    wrong = ~values.as_declared(mode, claim)
    findings = (_finding(values, mode, claim, values.ways(mode)[0], wrong, probe),) if wrong.any() else ()
    return Outcome(RULE.code, Verdict.FAIL if findings else Verdict.PASS, probe.case, findings)


def _explained(outcomes: list[Outcome], rule_probe: SurrogateProbe | None) -> list[Outcome]:
    """Add the rules that the derivative rests on, and whether a rule was lost on the way."""
    if rule_probe is None or all(o.verdict is Verdict.SKIP for o in outcomes):
        return outcomes
    rules = rule_probe.active_rules()
    used, inactive = _places(rules.used), _places(rules.inactive)
    notes = []
    if used:
        notes.append(f"rests on the rule of {used}")
    if inactive:
        notes.append(f"not on that of {inactive}")
    note = "; ".join(notes)
    lost = "" if rules.reached else "no rule is reached: was its name bound again, or is the plain function called?"
    lost = f"the rule of {inactive} is lost on the way: the derivative does not rest on it" if inactive else lost
    return [
        dataclasses.replace(
            o,
            note="; ".join(filter(None, [o.note, note])) if o.verdict is not Verdict.SKIP else o.note,
            findings=tuple(dataclasses.replace(f, help=lost or f.help) for f in o.findings),
        )
        for o in outcomes
    ]


def _places(rules: tuple[CustomRuleUse, ...]) -> str:
    return ", ".join(f"`{rule.name}` ({file_line(rule.path, rule.line)})" for rule in rules)


def _finding(values: SurrogateValues, mode: Mode, claim: Array, declared: Array, wrong: Flags, probe: Probe) -> Finding:
    with np.errstate(invalid="ignore"):
        beyond = np.abs(claim - declared) / np.maximum(values.margin(mode, claim, declared), TINY)
        gap = np.where(wrong, np.nan_to_num(beyond, nan=np.inf), -1.0)
    # A direction that moves many inputs repeats what a single coordinate shows; it is shown only where none is.
    everything = np.array([label.moves_many for label in values.input_labels])
    if wrong[~everything].any():
        gap[everything] = -1.0
    d, o = (int(i) for i in np.unravel_index(int(np.argmax(gap)), gap.shape))
    label, got, wanted = values.input_labels[d], float(claim[d, o]), float(declared[d, o])
    count = int((gap >= 0).sum())
    more = f" (and {count - 1} more)" if count > 1 else ""
    given, meant = pair(got, wanted)
    toward = "along a random direction" if label.is_direction else f"with respect to {label}"
    return Finding(
        RULE.code, Verdict.FAIL,
        f"{TRANSFORM_NAMES[mode]} {toward} is {given}, declared {meant}{more}",
        case=probe.case, mode=mode, order=1, leaf=label.leaf, index=label.index, output=str(values.output_labels[o])
        if not (mode == "rev" and len(values.weights)) else None, claimed=got, measured=wanted, tolerance=SURROGATE,
        help="rule and declaration differ: look at masks and bounds (open or closed), signs and constant factors",
    )  # fmt: skip


def _measured(probe: Probe) -> list[Outcome]:
    """Compare derivatives that are claimed exact with finite differences."""
    found = _compared(probe.declared_function(), "derivative_of= has a wrong derivative itself: ", probe)
    # A kink of the declared function is no doubt about the surrogate, which is compared with what JAX makes of it.
    kept = [o for o in found if o.verdict in (Verdict.PASS, Verdict.FAIL)]
    unsure = []
    if found and not kept:
        note = "derivative_of= could not be measured itself"
        unsure.append(Outcome(RULE.code, Verdict.SKIP, probe.case, note=note))
    return [
        *(dataclasses.replace(o, resolution=None, curve=None, jacobian=None) for o in kept),
        *unsure,
        *_compared(probe.exact_arguments(), "claimed exact: ", probe),
    ]


def _compared(exact: Probe | None, what: str, probe: Probe) -> list[Outcome]:
    if exact is None:
        return []
    comparison = exact.comparison()
    if isinstance(comparison, DerivativeError):
        finding = Finding(RULE.code, Verdict.FAIL, f"{what}it raises {comparison.message}", case=probe.case)
        return [Outcome(RULE.code, Verdict.FAIL, probe.case, (finding,))]
    outcomes = [compare_mode(comparison, mode, exact, RULE.code) for mode in comparison.autodiff]
    return [
        dataclasses.replace(
            o,
            findings=tuple(
                dataclasses.replace(f, message=what + f.message) for f in o.findings if f.verdict is o.verdict
            ),
        )
        for o in outcomes
    ]


def _mismatches(probe: Probe) -> list[Outcome]:
    """Points of a sweep through an input's domain at which the derivative is not the declared one."""
    rule_probe = probe.rule_probe()
    mismatches = [s for sweep in rule_probe.sweeps() for s in sweep.mismatches if s.tangent] if rule_probe else []
    findings = tuple(
        Finding(
            RULE.code, Verdict.FAIL,
            f"at {s.input} = {s.at!r} the surrogate's derivative of {s.output} is "
            + ", declared is ".join(pair(s.got, s.wanted)),
            case=probe.case, order=1, leaf=s.input, output=s.output, claimed=s.got, measured=s.wanted,
            tolerance=SURROGATE, help="far from the case the rule is another formula, or overflows",
        )
        for s in mismatches[:1]
    )  # fmt: skip
    return [Outcome(RULE.code, Verdict.FAIL, probe.case, findings)] if findings else []
