"""What does a report say of claims that ask less than at the revision named with ``--against``?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gradhook.model.report import Change, Notice, Report

if TYPE_CHECKING:
    from gradhook.execution.session import Project

CODE = "GRD505"


def noted(report: Report, projects: Sequence[Project], ref: str) -> Report:
    """The report with the changes since ``ref``, each of them a notice as well, unless nobody wants to hear of them.

    No comment silences them: it would stand in the very change that is to be told.

    Raises:
        GradhookError: git does not know ``ref``, or what stands there cannot be read.
    """
    if not any(_wanted(project) for project in projects):
        return report
    from gradhook.projects.baseline import compare

    changes = compare(ref, Path.cwd())
    notices = (Notice(CODE, change.path, change.line, said(change, ref)) for change in changes)
    named = {"against": {"value": ref, "origin": "--against"}}
    return replace(report, against=changes, notices=(*report.notices, *notices), settings={**report.settings, **named})


def said(change: Change, ref: str) -> str:
    """``pkg.mod:f: rtol loosened since main, 1e-06 before, 0.01 now``."""
    values = f"{change.before or 'nothing'} before, {change.after or 'nothing'} now"
    return f"{change.subject}: {change.what} {change.kind} since {ref}, {values}"


def _wanted(project: Project) -> bool:
    settings = project.config.settings
    chosen = not settings.select or CODE.startswith(settings.select)
    return settings.loosened != "ignore" and chosen and not CODE.startswith(settings.ignore or ("-",))
