"""Describe the end of a worker that died or hung, with the line of the user's code."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gradhook.execution.supervisor.limits import MAX_OUTPUT, MEGABYTE
from gradhook.model.results import Finding, Outcome, OutcomeUpdate, Target, TargetReport, Verdict, gravest_first

_FRAME = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)
_STACK = "(most recent call first)"
_PACKAGE = Path(__file__).resolve().parents[2]
_FOREIGN = frozenset({"site-packages", "dist-packages"})


def timed_out(target: Target, stage: str, seconds: float, output: str) -> Finding:
    """GRD905: the time limit of a target ran out."""
    message = f"timed out after {seconds:g} s, {_doing(target, stage)}"
    help = "give it more time with --timeout or GRADHOOK_TIMEOUT, or make its arguments smaller"
    return _finding("GRD905", target, stage, message, output, help)


def died(target: Target, stage: str, status: int | None, output: str) -> Finding:
    """GRD906: the process ended, or closed its pipe, in the middle of a target."""
    message = f"the process died {_doing(target, stage)}: {_cause(status)}"
    killed = status is not None and status == -getattr(signal, "SIGKILL", 9)
    help = "the system may have run out of memory: make the arguments smaller" if killed else ""
    return _finding("GRD906", target, stage, message, output, help)


def too_large(target: Target, stage: str, megabytes: float, output: str) -> Finding:
    """GRD906: the process was ended because it held more memory than it may."""
    message = f"the process was ended {_doing(target, stage)}: it held more than {megabytes:g} MB of memory"
    help = "make its arguments smaller, or allow more with --max-memory or GRADHOOK_MAX_MEMORY"
    return _finding("GRD906", target, stage, message, output, help)


def too_much_output(target: Target, stage: str, output: str) -> Finding:
    """GRD906: the process was ended before its output could fill the disk."""
    message = f"the process was ended {_doing(target, stage)}: it had printed more than {MAX_OUTPUT // MEGABYTE} MB"
    return _finding("GRD906", target, stage, message, output, "print less")


def forged(target: Target, stage: str, output: str) -> Finding:
    """GRD911: something other than the worker's loop wrote to the protocol's descriptor."""
    message = f"something wrote into gradhook's own channel {_doing(target, stage)}: no answer of that process counts"
    help = "write to files and descriptors that your code has opened itself"
    return _finding("GRD911", target, stage, message, output, help)


def unanswered(target: Target) -> Finding:
    """GRD908: the worker ended without an answer about the target."""
    help = "this is a mistake in gradhook: please report it, with the output of `gradhook env`"
    message = "gradhook itself failed: the worker gave no answer about this target"
    return Finding("GRD908", Verdict.ERROR, message, path=target.path, line=target.line, help=help)


def with_partial_outcomes(report: TargetReport, known: Sequence[OutcomeUpdate]) -> TargetReport:
    """The report of an interrupted target with its finished outcomes and the missing checks."""
    if not known:
        return report
    (finding,) = report.findings
    outcome, missing = known[-1].outcome, ", ".join(known[-1].open)
    if missing and outcome.case == finding.case:
        finding = replace(finding, message=f"{finding.message}; not answered there: {missing}")
    outcomes = (*(part.outcome for part in known), Outcome(finding.code, Verdict.ERROR, finding.case, (finding,)))
    findings = gravest_first([f for outcome in outcomes for f in outcome.findings])
    return replace(report, outcomes=outcomes, findings=findings)


def _doing(target: Target, stage: str) -> str:
    if stage == "import":
        return f"while importing {target.module}"
    return f"in case {stage!r}" if stage != "start" else "before the first case"


def _cause(status: int | None) -> str:
    if status is None:
        return "it closed its pipe"
    if status >= 0:
        return f"exit status {status}" if status < 0x80000000 else f"exit status {status:#x}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


def _finding(code: str, target: Target, stage: str, message: str, output: str, help: str) -> Finding:
    path, line = _place(target, output)
    case = None if stage in ("import", "start") else stage
    return Finding(code, Verdict.ERROR, message, case=case, path=path, line=line, help=help)


def _place(target: Target, output: str) -> tuple[str, int]:
    """The user's innermost frame of the last faulthandler stack, else the target's line."""
    root = Path(target.root).resolve()
    _, found, stack = output.rpartition(_STACK)
    for file, line in _FRAME.findall(stack if found else ""):
        path = Path(file).resolve()
        if path.is_relative_to(root) and _FOREIGN.isdisjoint(path.parts) and not path.is_relative_to(_PACKAGE):
            return path.relative_to(root).as_posix(), int(line)
    return target.path, target.line
