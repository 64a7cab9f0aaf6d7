"""The base revision of the pull request that a workflow runs for.

``actions/checkout`` takes GitHub's trial merge of a pull request, whose first parent is the base; a workflow that
checks out the head instead finds the base in the event. A clone of depth 1 has neither.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from gradhook.projects.baseline.revision import commit_of

AUTO, NONE = "auto", "none"
_EVENTS = frozenset({"pull_request", "pull_request_target"})
BASE_MISSING = (
    "the base of this pull request is not in this clone, so its claims were not compared with those of the base, and "
    "the configuration was the pull request's own: give actions/checkout `fetch-depth: 2`, or say `against: none`"
)


def base_revision(wanted: str, environ: Mapping[str, str], here: Path) -> tuple[str | None, str]:
    """The revision to compare with, and a warning or ""; ``wanted`` is the input ``against``."""
    if wanted not in ("", AUTO):
        return (None if wanted == NONE else wanted), ""
    if environ.get("GITHUB_EVENT_NAME") not in _EVENTS:
        return None, ""
    found = _base(environ, here)
    return found, "" if found else BASE_MISSING


def _base(environ: Mapping[str, str], here: Path) -> str | None:
    is_trial = commit_of("HEAD", here) == environ.get("GITHUB_SHA") and commit_of("HEAD^2", here)
    if is_trial:
        return "HEAD^1" if commit_of("HEAD^1", here) else None
    named = _base_from_event(environ)
    return named if named and commit_of(named, here) else None


def _base_from_event(environ: Mapping[str, str]) -> str | None:
    """The base that the event names."""
    try:
        event = json.loads(Path(environ.get("GITHUB_EVENT_PATH") or "").read_text(encoding="utf-8"))
        return str(event["pull_request"]["base"]["sha"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
