"""Which targets passed before with everything that they depend on as it is now?

Only passes are kept, and what could not be asked of a rule that nobody claims. A claim that the scan cannot see is
found when its module is imported, so it is kept with every claim of its module: where one of those did not pass, none
of the module is kept.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradhook.execution.cache import current_state
from gradhook.execution.cache.current_state import Now, World
from gradhook.execution.cache.fingerprints import UNKNOWN, digest
from gradhook.execution.cache.store import Store
from gradhook.model.protocol import MISFITS, Depended, Job, build, plain
from gradhook.model.results import LEFT_OUT, ClaimKind, Target, TargetReport, Verdict

PASSED, WORLDS = "passed", "worlds"
Module = tuple[str, str]


@dataclass(frozen=True)
class Passes:
    """The passes of a project under one basis (``cache.basis``)."""

    store: Store
    basis: str
    environ: Mapping[str, str]


@dataclass(frozen=True)
class Recalled:
    """The answers that still hold, by job; those about claims that no job is about; what they were found on."""

    reports: Mapping[int, TargetReport] = field(default_factory=dict)
    discovered: tuple[TargetReport, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)


def recall(passes: Passes, jobs: Sequence[Job], asked: Sequence[int]) -> Recalled:
    """What need not be asked again of the jobs with the numbers ``asked``; ``jobs`` are all of the project."""
    now, worlds = Now(passes.environ), dict[str, World | None]()
    names = _names(passes, jobs)
    held = {n: reports for n in asked if n in names and (reports := _held(passes, names[n], now, worlds))}
    module = {job.number: module_of(job.target) for job in jobs}
    busy = {module[number] for number in asked if number not in held}
    found = {module[number]: reports[1:] for number, reports in held.items() if module[number] not in busy}
    target = {job.number: job.target for job in jobs}
    used = [known for known in worlds.values() if known]
    return Recalled(
        {n: replace(reports[0], target=target[n]) for n, reports in held.items()},
        tuple(report for reports in found.values() for report in reports),
        used[0].environment if used and held else {},
    )


def remember(
    passes: Passes,
    jobs: Sequence[Job],
    reports: Mapping[int, TargetReport],
    depended: Depended,
    ran_on: Mapping[str, Any],
) -> None:
    """Keep the passes of a worker.

    Raises:
        OSError: they cannot be written.
    """
    kept = current_state.record(depended, ran_on, passes.environ)
    name = current_state.name_of(kept)
    if any(kept["rows"][row][1] == UNKNOWN for row in kept["common"]["rows"]):
        return
    entries = dict(_entries(passes, jobs, reports, depended, kept))
    if entries:
        passes.store.write(WORLDS, name, kept)
    for entry_name, entry in entries.items():
        passes.store.write(PASSED, entry_name, {**entry, "world": name})


def module_of(target: Target) -> Module:
    """What is imported for a target."""
    return target.module, target.path


def _entries(
    passes: Passes,
    jobs: Sequence[Job],
    reports: Mapping[int, TargetReport],
    depended: Depended,
    kept: Mapping[str, Any],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and content of every entry that may be kept."""
    discovered = defaultdict(list)
    for number in reports.keys() - {job.number for job in jobs}:
        discovered[module_of(reports[number].target)].append(number)
    for number, name in _names(passes, jobs).items():
        if number not in reports or str(number) not in depended.needs:
            continue
        others = discovered[module_of(reports[number].target)]
        rows = sorted({row for n in (number, *others) for row in depended.needs.get(str(n), ())})
        patterns = [depended.patterns[str(n)] for n in (number, *others) if str(n) in depended.patterns]
        passed = all(_is_kept(reports[n]) and str(n) in depended.needs for n in (number, *others))
        if passed and all(kept["rows"][row][1] != UNKNOWN for row in rows):
            report, *more = (plain(reports[n]) for n in (number, *sorted(others)))
            yield name, {"report": report, "discovered": more, "needs": rows, "patterns": plain(patterns)}


def _is_kept(report: TargetReport) -> bool:
    """A rule without a claim never passes; nothing wrong was found with it when it was skipped."""
    was_left_out = any(finding.code == LEFT_OUT for finding in report.findings)
    is_skipped_rule = report.verdict is Verdict.SKIP and report.target.claim is ClaimKind.RULE
    return report.verdict is Verdict.PASS or (is_skipped_rule and not was_left_out)


def _held(passes: Passes, name: str, now: Now, worlds: dict[str, World | None]) -> list[TargetReport]:
    """The reports of this name, if all that they rest on still stands: the target's own, then discovered ones.

    What is no entry counts as none.
    """
    try:
        entry = _standing(passes, name, now, worlds)
        reports = [_report(kept) for kept in (entry["report"], *entry["discovered"])] if entry else []
    except (*MISFITS, IndexError):
        return []
    return reports if all(map(_is_kept, reports)) else []


def _standing(passes: Passes, name: str, now: Now, worlds: dict[str, World | None]) -> Any:
    entry = passes.store.read(PASSED, name)
    if not isinstance(entry, dict) or not {"report", "discovered", "needs", "patterns", "world"} <= entry.keys():
        return None
    of = entry["world"]
    if of not in worlds:
        worlds[of] = current_state.restored(passes.store.read(WORLDS, of), now)
    known = worlds[of]
    if known is None or not known.stands or not known.holds(entry["needs"]):
        return None
    if not all(map(current_state.mean_the_same, entry["patterns"])):
        return None
    passes.store.used(PASSED, name)
    passes.store.used(WORLDS, of)
    return entry


def _names(passes: Passes, jobs: Sequence[Job]) -> dict[int, str]:
    """The name of each job's entry; claims that cannot be told apart have none."""
    names = {job.number: digest(passes.basis, json.dumps([plain(job.target), plain(job.options)])) for job in jobs}
    often = Counter(names.values())
    return {number: name for number, name in names.items() if often[name] == 1}


def _report(kept: Any) -> TargetReport:
    report: TargetReport = build(TargetReport, kept)
    return replace(report, cached=True)
