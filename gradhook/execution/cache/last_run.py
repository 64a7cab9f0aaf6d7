"""Which targets failed when they were last examined, whatever has changed since? A run begins with them."""

from __future__ import annotations

from collections.abc import Iterable

from gradhook.execution.cache.dependency_index import name_of
from gradhook.execution.cache.store import Store
from gradhook.model.results import LEFT_OUT, TargetReport, Verdict

LAST, _NAME = "last", "failed"
_MOST = 1000
"""Names that are kept: those of targets that are gone must not add up for ever."""
_BAD = frozenset({Verdict.FAIL, Verdict.UNDECIDED, Verdict.ERROR})


def failed(store: Store) -> frozenset[str]:
    """The names (``affected.name_of``) of the targets that failed, were undecided or could not run."""
    return frozenset(_names(store))


def keep(store: Store, reports: Iterable[TargetReport]) -> None:
    """Keep which of some targets failed; what is known of others stays, that of those left out too.

    Raises:
        OSError: it cannot be written.
    """
    examined = [report for report in reports if not any(finding.code == LEFT_OUT for finding in report.findings)]
    asked = {name_of(report.target): report.verdict in _BAD for report in examined}
    before = _names(store)
    now = [name for name, bad in asked.items() if bad] + [name for name in before if name not in asked]
    if now[:_MOST] != before:
        store.write(LAST, _NAME, now[:_MOST])


def _names(store: Store) -> list[str]:
    kept = store.read(LAST, _NAME)
    return kept if isinstance(kept, list) and all(isinstance(name, str) for name in kept) else []
