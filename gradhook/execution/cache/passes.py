"""Keep results, and recall them while everything that they depend on is unchanged.

Answers are kept whatever they are, errors excepted, and so is what could not be asked of a rule that nobody claims. An
answer that names lines holds for as long as all code stands on its lines; any other while the code says the same. A
claim that the scan cannot see is found when its module is imported, so it is kept with every claim of its module: where
one of those could not be examined, none of the module is kept.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradhook.execution.cache import current_state
from gradhook.execution.cache.current_state import CurrentFiles, RunRecord
from gradhook.execution.cache.fingerprints import UNKNOWN, digest
from gradhook.execution.cache.store import Store
from gradhook.execution.cache.syntax import Shapes
from gradhook.model.protocol import DECODING_ERRORS, DependencyReport, Job, from_json, to_json
from gradhook.model.results import LEFT_OUT, ClaimKind, ModuleKey, TargetReport, Verdict

ANSWERED, WORLDS = "answered", "worlds"
_NEWS = frozenset({Verdict.UNDECIDED, Verdict.FAIL})
_PLACE = re.compile(r"\.py\w?:\d|\bline \d")
_POSITIONS = ("line", "mark", "lines", "column")


@dataclass(frozen=True)
class Kept:
    """The answers of a project that are kept under one basis (``cache.cache_key``)."""

    store: Store
    cache_key: str
    environ: Mapping[str, str]
    shapes: Shapes


@dataclass(frozen=True)
class Recalled:
    """Results that still hold, by job; those of discovered claims; the environment they came from."""

    reports: Mapping[int, TargetReport] = field(default_factory=dict)
    found: Mapping[ModuleKey, tuple[TargetReport, ...]] = field(default_factory=dict)
    """Answers about claims that no job is about, by module."""
    environment: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """On which files the answer of each job rests."""

    @property
    def discovered(self) -> Iterator[TargetReport]:
        """The answers about claims that no job is about."""
        return (report for reports in self.found.values() for report in reports)

    def without(self, numbers: Collection[int]) -> Recalled:
        """What is left when some answers do not count."""
        modules = {self.reports[number].target.module_key for number in numbers}
        return replace(
            self,
            reports={number: report for number, report in self.reports.items() if number not in numbers},
            found={module: reports for module, reports in self.found.items() if module not in modules},
        )

    def disturbed(self, depended: Iterable[DependencyReport]) -> frozenset[int]:
        """The answers that would have been others in the company of what a worker has imported now.

        It changed a module that they rest on, or something common to all, and they do not know of it yet: an answer
        that does rests on whoever changes that, and would not have been recalled.
        """
        bad = set[int]()
        for known in depended:
            mutated = {known.files[row][0] for row in known.mutated}
            shared = {known.files[row][0] for row in known.shared}
            bad |= {number for number, files in self.files.items() if files & mutated or shared - files}
        return frozenset(bad & self.reports.keys())


def recall(kept_under: Kept, jobs: Sequence[Job], asked: Sequence[int]) -> Recalled:
    """The results that still hold for the jobs ``asked``; ``jobs`` are all those of the project."""
    now, worlds = CurrentFiles(kept_under.environ, kept_under.shapes), dict[str, RunRecord | None]()
    names = _names(kept_under, jobs)
    known = {n: _held(kept_under, names[n], now, worlds) for n in asked if n in names}
    held = {number: one.reports for number, one in known.items() if one.reports}
    module = {job.number: job.target.module_key for job in jobs}
    busy = {module[number] for number in asked if number not in held}
    found = {module[number]: reports[1:] for number, reports in held.items() if module[number] not in busy}
    target = {job.number: job.target for job in jobs}
    used = [one for one in worlds.values() if one]
    return Recalled(
        {n: replace(reports[0], target=target[n]) for n, reports in held.items()},
        {module: tuple(reports) for module, reports in found.items()},
        used[0].environment if used and held else {},
        {number: one.files for number, one in known.items()},
    )


def remember(
    kept_under: Kept,
    jobs: Sequence[Job],
    reports: Mapping[int, TargetReport],
    depended: DependencyReport,
    ran_on: Mapping[str, Any],
) -> None:
    """Keep the answers of a worker.

    Raises:
        OSError: they cannot be written.
    """
    kept = current_state.record(depended, ran_on, kept_under.environ, kept_under.shapes)
    name = current_state.name_of(kept)
    if any(kept["rows"][row][1] == UNKNOWN for row in kept["common"]["rows"]):
        return
    entries = dict(_entries(kept_under, jobs, reports, depended, kept))
    if entries:
        kept_under.shapes.keep()
        kept_under.store.write(WORLDS, name, kept)
    for entry_name, entry in entries.items():
        kept_under.store.write(ANSWERED, entry_name, {**entry, "world": name})


def _entries(
    kept_under: Kept,
    jobs: Sequence[Job],
    reports: Mapping[int, TargetReport],
    depended: DependencyReport,
    kept: Mapping[str, Any],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and content of every entry that may be kept."""
    discovered = defaultdict(list)
    for number in reports.keys() - {job.number for job in jobs}:
        discovered[reports[number].target.module_key].append(number)
    for number, name in _names(kept_under, jobs).items():
        if number not in reports or str(number) not in depended.needs:
            continue
        others = discovered[reports[number].target.module_key]
        rows = sorted({row for n in (number, *others) for row in depended.needs.get(str(n), ())})
        patterns = [depended.patterns[str(n)] for n in (number, *others) if str(n) in depended.patterns]
        whole = all(_is_kept(reports[n]) and str(n) in depended.needs for n in (number, *others))
        if whole and all(kept["rows"][row][1] != UNKNOWN for row in rows):
            report, *more = (to_json(reports[n]) for n in (number, *sorted(others)))
            yield name, {"report": report, "discovered": more, "needs": rows, "patterns": to_json(patterns)}


def _is_kept(report: TargetReport) -> bool:
    """A rule without a claim never passes; nothing wrong was found with it when it was skipped."""
    was_left_out = any(finding.code == LEFT_OUT for finding in report.findings)
    is_skipped_rule = report.verdict is Verdict.SKIP and report.target.claim is ClaimKind.RULE
    return report.verdict is Verdict.PASS or report.verdict in _NEWS or (is_skipped_rule and not was_left_out)


def _names_lines(reports: Sequence[TargetReport]) -> bool:
    """Whether answers say on which lines something stands; discovered claims do so themselves."""
    outcomes = [outcome for report in reports for outcome in report.outcomes]
    found = any(report.findings or report.verdict in _NEWS for report in reports)
    noted = any(outcome.findings or _PLACE.search(outcome.note) for outcome in outcomes)
    return len(reports) > 1 or found or noted


@dataclass(frozen=True)
class _Held:
    reports: tuple[TargetReport, ...] = ()
    files: frozenset[str] = frozenset()


def _held(kept_under: Kept, name: str, now: CurrentFiles, worlds: dict[str, RunRecord | None]) -> _Held:
    """The reports in an entry whose dependencies are unchanged: the target's, then discovered ones.

    What is no entry counts as none.
    """
    entry = kept_under.store.read(ANSWERED, name)
    try:
        reports = [_report(kept) for kept in (entry["report"], *entry["discovered"])]
        is_current = all(map(_is_kept, reports)) and _stands(kept_under, entry, _names_lines(reports), now, worlds)
    except (*DECODING_ERRORS, IndexError):
        return _Held()
    known = worlds[entry["world"]] if is_current else None
    if known is None:
        return _Held()
    kept_under.store.used(ANSWERED, name)
    kept_under.store.used(WORLDS, entry["world"])
    return _Held(tuple(reports), known.files([*entry["needs"], *known.common["rows"]]))


def _stands(
    kept_under: Kept, entry: Any, on_lines: bool, now: CurrentFiles, worlds: dict[str, RunRecord | None]
) -> bool:
    """Whether all that an entry rests on is as it was."""
    of = entry["world"]
    if of not in worlds:
        worlds[of] = current_state.restored(kept_under.store.read(WORLDS, of), now)
    known = worlds[of]
    if known is None or not known.is_current or not known.holds(entry["needs"], on_lines):
        return False
    return all(map(current_state.match_same_files, entry["patterns"]))


def _names(kept_under: Kept, jobs: Sequence[Job]) -> dict[int, str]:
    """The name of each job's entry; claims that look alike have none.

    Lines are in it only where no code that the answer rests on would tell of a change: a configuration's, and those
    of claims that share one.
    """
    marks = Counter((job.target.path, job.target.mark) for job in jobs)
    names = {}
    for job in jobs:
        target = to_json(job.target)
        if job.target.source != "config" and marks[job.target.path, job.target.mark] == 1:
            target = {name: value for name, value in target.items() if name not in _POSITIONS}
        names[job.number] = digest(kept_under.cache_key, json.dumps([target, to_json(job.options)]))
    often = Counter(names.values())
    return {number: name for number, name in names.items() if often[name] == 1}


def _report(kept: Any) -> TargetReport:
    report: TargetReport = from_json(TargetReport, kept)
    return replace(report, cached=True)
