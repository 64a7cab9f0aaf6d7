"""Notices about claims that are weaker than at the revision named with ``--against``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gradhook.model.report import Change, Notice, Report

if TYPE_CHECKING:
    from gradhook.execution.session import Project

CODE = "GRD505"


def with_weakened_claims(report: Report, projects: Sequence[Project], ref: str) -> Report:
    """The report with the changes since ``ref``, each of them a notice too, unless settings ignore them.

    No comment silences them: it would stand in the very change that is to be reported.

    Raises:
        GradhookError: git has no ``ref``, or its files cannot be read.
    """
    if not any(_is_selected(project) for project in projects):
        return report
    from gradhook.projects.baseline import compare

    changes = compare(ref, Path.cwd())
    notices = (Notice(CODE, change.path, change.line, describe(change, ref)) for change in changes)
    named = {"against": {"value": ref, "origin": "--against"}}
    return replace(report, against=changes, notices=(*report.notices, *notices), settings={**report.settings, **named})


def describe(change: Change, ref: str) -> str:
    """``pkg.mod:f: rtol weakened since main, 1e-06 before, 0.01 now``."""
    values = f"{change.before or 'nothing'} before, {change.after or 'nothing'} now"
    return f"{change.subject}: {change.what} {change.kind} since {ref}, {values}"


def _is_selected(project: Project) -> bool:
    settings = project.config.settings
    chosen = not settings.select or CODE.startswith(settings.select)
    return settings.weakened != "ignore" and chosen and not CODE.startswith(settings.ignore or ("-",))
