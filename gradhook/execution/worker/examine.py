"""Run every check on one target; a custom rule without a claim never passes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from gradhook.checks import Check, all_checks
from gradhook.execution.worker.cases.case_options import check_cases, check_options, ignored
from gradhook.execution.worker.cases.methods import bound_to_instance
from gradhook.execution.worker.traces import account, inputs_alone
from gradhook.execution.worker.user_errors import escaped, fault, relative
from gradhook.model.errors import GradhookError
from gradhook.model.results import (
    UNCLAIMED,
    CheckSettings,
    ClaimKind,
    Finding,
    Outcome,
    OutcomeUpdate,
    Seconds,
    Target,
    TargetReport,
    Verdict,
    gravest_first,
    worst,
)
from gradhook.model.trace import CaseTrace
from gradhook.numerics.autodiff.programs import Clock, sparing
from gradhook.numerics.case import CheckCase
from gradhook.numerics.function import shape_remedy
from gradhook.numerics.function_probe import FunctionProbe

_CHECKED = {
    "GRD201": "value on every route",
    "GRD203": "linear and transposable",
    "GRD204": "shapes and dtypes",
    "GRD205": "compositions",
}


def unclaimed(target: Target, outcomes: Sequence[Outcome], seconds: Seconds) -> TargetReport:
    """The report about a rule; without faults it is skipped, with a note of what was checked."""
    findings = gravest_first([finding for outcome in outcomes for finding in outcome.findings])
    verdict = worst([outcome.verdict for outcome in outcomes])
    if verdict not in (Verdict.PASS, Verdict.SKIP):
        return TargetReport(target, verdict, tuple(outcomes), findings, seconds=seconds)
    said = Outcome(UNCLAIMED, Verdict.SKIP, None, note=_note(outcomes))
    return TargetReport(target, Verdict.SKIP, (said, *outcomes), findings, seconds=seconds)


def _note(outcomes: Sequence[Outcome]) -> str:
    checked = [words for code, words in _CHECKED.items() if _passed(code, outcomes)]
    if checked:
        return f"unclaimed rule, contract checked: {', '.join(checked)}; nothing said about its derivative"
    reasons = "; ".join(dict.fromkeys(outcome.note for outcome in outcomes if outcome.note))
    return f"unclaimed rule, nothing could be checked: {reasons}"


def _passed(code: str, outcomes: Sequence[Outcome]) -> bool:
    return any(o.code == code and o.verdict is Verdict.PASS for o in outcomes)


Announce = Callable[[str | OutcomeUpdate], None]
"""Called with the name of each case that begins, then with each outcome."""
_COMPARING = {ClaimKind.EXACT: ("GRD101", "GRD102"), ClaimKind.SURROGATE: ("GRD201", "GRD202")}
"""The questions that compare what was claimed: a case in which none of them passed is no pass, whatever else did."""


def examine(
    subject: Any, target: Target, options: Mapping[str, Any], settings: CheckSettings, announce: Announce
) -> TargetReport:
    """Check every case of a target in float64; a check that cannot run is an error."""
    clock = Clock()
    with jax.enable_x64(True):
        if jax.numpy.zeros(()).dtype != "float64":
            return _report(target, [_no_float64()], clock)
        try:
            wanted = check_options(options, settings, target.claim is ClaimKind.SURROGATE)
            if target.claim is ClaimKind.RULE:  # an unclaimed rule is compared with the function itself
                wanted = replace(wanted, forward=subject)
            cases = check_cases(options, configured=target.source == "config", function=subject)
            ignore = ignored(options)
        except GradhookError as error:
            return _report(target, [_refused("GRD909", error)], clock)
        except BaseException as error:
            return _report(target, [_error(fault("GRD902", error, Path(target.root)))], clock)
        outcomes: list[Outcome] = []
        accounts: list[CaseTrace] = []
        for check_case in cases:
            announce(check_case.name)
            try:
                function = bound_to_instance(subject, check_case)
            except GradhookError as error:
                outcomes.append(_placed(_refused("GRD909", error, check_case.name), target))
                continue
            probe = FunctionProbe(function, check_case, wanted, _seed(target, check_case, settings), clock)
            with sparing():
                found = _case(probe, target, announce)
            outcomes += found
            accounts += [_account(probe, found)] if settings.trace else []
        return replace(_report(target, outcomes, clock), ignore=ignore, traces=tuple(accounts))


def _seed(target: Target, check_case: CheckCase, settings: CheckSettings) -> str:
    return f"{target.name}\x1f{check_case.name}\x1f{settings.seed}"


def _account(probe: FunctionProbe, outcomes: list[Outcome]) -> CaseTrace:
    """How a case was examined, as far as it was."""
    ran = probe.check_case.error is None and all(outcome.verdict is not Verdict.ERROR for outcome in outcomes)
    return account(probe) if ran else inputs_alone(probe)


def _case(probe: FunctionProbe, target: Target, announce: Announce) -> list[Outcome]:
    """Run every check on one case; an exception in user code ends the case, not the run."""
    check_case = probe.check_case
    try:
        if check_case.error is None and (nothing := _cannot_start(probe, target)):
            return [_placed(nothing, target)]
        with sparing(max(probe.held.inputs.size, probe.held.outputs.size) if check_case.error is None else 0):
            outcomes = list(_answers(probe, target, announce))
        return [_placed(outcome, target) for outcome in _with_untested(outcomes, _asked(probe, target), check_case)]
    except GradhookError as error:
        return [_placed(_refused("GRD909", error, check_case.name), target)]
    except BaseException as error:
        return [_placed(_error(replace(escaped(error, Path(target.root)), case=check_case.name)), target)]


def _answers(probe: FunctionProbe, target: Target, announce: Announce) -> Iterator[Outcome]:
    """Each outcome, announced at once: it counts even if the next check never ends."""
    questions = _questions(target, probe.check_case)
    codes = [check.RULE.code for check in questions]
    for k, check in enumerate(questions):
        outcome = check.run(probe)
        announce(OutcomeUpdate(_placed(outcome, target), tuple(codes[k + 1 :])))
        yield outcome


def _cannot_start(probe: FunctionProbe, target: Target) -> Outcome | None:
    """Call the function once; an outcome if it raises or has no numbers to compare."""
    check_case = probe.check_case
    try:
        held = probe.held
    except GradhookError:
        raise
    except BaseException as error:
        return _error(
            fault(
                "GRD904",
                error,
                Path(target.root),
                case=probe.case,
                help=shape_remedy(check_case.args, check_case.kwargs),
            )
        )
    if held.inputs.size and held.outputs.size:
        return None
    what = "differentiated arrays" if not held.inputs.size else "results"
    return Outcome(
        "GRD410", Verdict.SKIP, probe.case, note=f"all {what} are empty: the function ran, nothing was compared"
    )


def _questions(target: Target, check_case: CheckCase) -> list[Check]:
    """The checks that apply; for an input that must be refused, only the check of its refusal."""
    wanted = [check for check in all_checks() if target.claim in check.APPLIES]
    return [check for check in wanted if (check.RULE.code == "GRD302") == (check_case.error is not None)]


def _asked(probe: FunctionProbe, target: Target) -> tuple[str, ...]:
    """The checks of which one has to pass: those of the derivative, if it is declared."""
    declared = (probe.options.derivative_of, probe.options.rule, probe.check_case.tangent)
    if target.claim is ClaimKind.SURROGATE and any(given is not None for given in declared):
        return ("GRD202",)
    return _COMPARING.get(target.claim, ())


def _with_untested(outcomes: list[Outcome], asked: tuple[str, ...], check_case: CheckCase) -> list[Outcome]:
    """Add an undecided outcome where no check of the derivative could run: it must not pass.

    It replaces the outcome about vacuous cases, which does not matter where nothing was compared.
    """
    answers = [o for o in outcomes if o.code in asked]
    others = [o for o in outcomes if o.code != "GRD410"]
    reported = any(f.verdict is not Verdict.ADVICE for o in others for f in o.findings)
    if not asked or check_case.error is not None or reported or any(o.verdict is not Verdict.SKIP for o in answers):
        return outcomes
    reasons = "; ".join(dict.fromkeys(o.note for o in answers if o.note))
    finding = Finding(
        "GRD410", Verdict.UNDECIDED, f"nothing was tested: {reasons}", case=check_case.name,
        help="choose a case at which value and derivative exist",
    )  # fmt: skip
    return [*others, Outcome("GRD410", Verdict.UNDECIDED, check_case.name, (finding,))]


def _placed(outcome: Outcome, target: Target) -> Outcome:
    """The outcome, whose findings have a path relative to the project root, or the target's."""
    return replace(outcome, findings=tuple(_located(finding, target) for finding in outcome.findings))


def _located(finding: Finding, target: Target) -> Finding:
    """The finding with a path relative to the project root, a line, and a command that repeats the check."""
    command = f"gradhook check {shlex.quote(target.path)} -k {shlex.quote(target.qualname)}"
    finding = replace(finding, reproduce=finding.reproduce or command)
    if not finding.path:
        return replace(finding, path=target.path, line=target.line)
    if Path(finding.path).is_absolute():
        return replace(finding, path=relative(finding.path, Path(target.root)))
    return finding


def _refused(code: str, error: GradhookError, case: str | None = None) -> Outcome:
    return _error(Finding(code, Verdict.ERROR, error.message, case=case, help=error.help))


def _no_float64() -> Outcome:
    text = "float64 could not be switched on: JAX still gives float32"
    help = "look for code that changes jax_enable_x64 or jax_default_dtype_bits at import"
    return _error(Finding("GRD907", Verdict.ERROR, text, help=help))


def _error(finding: Finding) -> Outcome:
    return Outcome(finding.code, Verdict.ERROR, finding.case, (finding,))


def _report(target: Target, outcomes: list[Outcome], clock: Clock) -> TargetReport:
    if target.claim is ClaimKind.RULE:
        return unclaimed(target, outcomes, Seconds(clock.compile, clock.run))
    compared = _compared(target, outcomes)
    refused = all(o.code == "GRD302" and o.verdict is Verdict.PASS for o in outcomes)  # the only claim there is
    if not compared and not refused and worst([o.verdict for o in outcomes]) in (Verdict.SKIP, Verdict.PASS):
        outcomes = [*outcomes, _placed(_nothing(outcomes), target)]
    outcomes = _vacuous_everywhere(outcomes, compared)
    findings = gravest_first([f for outcome in outcomes for f in outcome.findings])
    seen = [o.resolution for o in outcomes if o.resolution is not None and o.verdict is Verdict.PASS]
    return TargetReport(
        target, worst([o.verdict for o in outcomes]), tuple(outcomes), findings, max(seen, default=None),
        Seconds(clock.compile, clock.run),
    )  # fmt: skip


def _compared(target: Target, outcomes: list[Outcome]) -> set[str | None]:
    """The cases in which the claim was compared with something."""
    return {o.case for o in outcomes if o.code in _COMPARING[target.claim] and o.verdict is not Verdict.SKIP}


def _vacuous_everywhere(outcomes: list[Outcome], compared: set[str | None]) -> list[Outcome]:
    """Drop outcomes about vacuous cases if another case has a nonzero derivative."""
    tested = any(o.code == "GRD410" and o.verdict is Verdict.PASS and o.case in compared for o in outcomes)
    return [
        o
        for o in outcomes
        if not (tested and o.code == "GRD410" and o.verdict is Verdict.UNDECIDED and o.case in compared)
    ]


def _nothing(outcomes: list[Outcome]) -> Outcome:
    """An undecided outcome for a target without any check: it must not pass."""
    reasons = "; ".join(dict.fromkeys(o.note for o in outcomes if o.note))
    finding = Finding(
        "GRD410", Verdict.UNDECIDED, f"nothing was tested: {reasons}", help="add a case with numbers in it"
    )
    return Outcome("GRD410", Verdict.UNDECIDED, None, (finding,))
