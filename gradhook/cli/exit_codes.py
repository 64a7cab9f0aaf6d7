"""The exit codes of a report and of an interrupted run, and the handlers of SIGINT and SIGTERM.

The first signal arrives as ``KeyboardInterrupt``: workers are ended, and the results so far are shown. A second one
ends the command at once; one right after the first is the same, sent by the terminal and passed on by a wrapper.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING

from gradhook.config import Settings
from gradhook.model.report import Notice, Report
from gradhook.model.results import UNCLAIMED, ClaimKind, TargetReport, Verdict

if TYPE_CHECKING:
    from gradhook.execution.session import Project


CLEAN, FINDINGS, COULD_NOT_RUN = 0, 1, 2


def exit_code(report: Report, projects: Sequence[Project]) -> int:
    """The gravest code of all projects, each under its own settings; 2 for nothing with ``fail_on_empty``."""
    asked = any(target.target.claim is not ClaimKind.RULE for target in report.targets)
    is_empty = not asked and not any(project.claimed for project in projects)  # a shard may well be empty
    if is_empty and any(project.config.settings.fail_on_empty for project in projects):
        return COULD_NOT_RUN
    codes = [_project_code(report, project) for project in projects]
    return max([*codes, FINDINGS * any(_has_weakened_claims(report, project.config.settings) for project in projects)])


def _project_code(report: Report, project: Project) -> int:
    """2 when something could not be run: an incomplete run goes before findings."""
    root = str(project.config.root)
    targets = [t for t in report.targets if t.target.root == root]
    notices = [notice for notice in report.notices if notice.root == root]
    settings = project.config.settings
    if any(target.verdict is Verdict.ERROR for target in targets):
        return COULD_NOT_RUN
    found = any(_is_finding(target, settings) for target in targets) or _has_unclaimed_rules(notices, settings)
    return FINDINGS if found and not settings.exit_zero else CLEAN


def _has_weakened_claims(report: Report, settings: Settings) -> bool:
    return bool(report.against) and settings.weakened == "error" and not settings.exit_zero


def _is_finding(target: TargetReport, settings: Settings) -> bool:
    undecided = target.verdict is Verdict.UNDECIDED and settings.undecided == "error"
    return target.verdict is Verdict.FAIL or undecided


def _has_unclaimed_rules(notices: Sequence[Notice], settings: Settings) -> bool:
    return settings.unclaimed == "error" and any(notice.code == UNCLAIMED for notice in notices)


_SAME_SIGNAL = 0.5
"""Seconds within which signals count as one."""
_received: list[tuple[int, float]] = []


def install_signal_handlers() -> None:
    """Let SIGTERM be an interrupt, too; a SIGINT that the parent process ignores stays ignored."""
    signal.signal(signal.SIGTERM, _on_signal)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _on_signal)


def code() -> int:
    """130 after Ctrl-C, 143 after SIGTERM, as shells have it."""
    return 128 + (_received[0][0] if _received else signal.SIGINT)


def _on_signal(number: int, frame: FrameType | None) -> None:
    del frame
    now = time.monotonic()
    if not _received:
        _received.append((number, now))
        raise KeyboardInterrupt
    if now - _received[0][1] > _SAME_SIGNAL:
        _quit()


def _quit() -> None:
    """End at once: no lock is taken, no output is flushed."""
    if process := sys.modules.get("gradhook.execution.supervisor.process"):
        process.kill_all()
    os._exit(code())
