"""Match the executed claims with jobs, and resolve the function to examine."""

from __future__ import annotations

import difflib
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from gradhook.annotations import Claim, registered
from gradhook.execution.worker.loading.load import MISSING, exported, file_of, name_of_value, plain, wraps
from gradhook.model.protocol import Job
from gradhook.model.results import ClaimKind, Finding, Target, Verdict

ClaimPlace = tuple[str, int, str]
"""Real path, line, kind: where a claim stands."""
UnmatchedClaims = Mapping[ClaimPlace, list[Claim]]
"""The claims that no job has yet."""


@dataclass(frozen=True)
class ResolvedTarget:
    """The function to examine, and its annotation's options."""

    function: Any
    options: Mapping[str, Any]


def match_claims(
    jobs: Sequence[Job], modules: Mapping[str, ModuleType], taken: int = 0
) -> tuple[dict[int, Claim], list[Job]]:
    """The claim of each job, by number, and new jobs for claims without one.

    ``modules`` maps real paths to what was imported from them; numbers below ``taken`` are other jobs'. A claim goes to
    the job at its place whose object it is; then, in order, to the jobs at its place (a loop, several calls on a line);
    then to a job whose object it is, for decorators that were made elsewhere.
    """
    left = _executed(modules)
    homes = {j.number: (j.target, modules[h]) for j in jobs if (h := _home(j.target)) in modules and _is_scanned(j)}
    claims: dict[int, Claim] = {}
    for fits in (_decorates, _same_place, _same_object):
        for number, (target, module) in homes.items():
            found = None if number in claims else next(fits(left, target, module), None)
            if found is not None:
                claims[number] = found
                left[_claim_place(found)] = [claim for claim in left[_claim_place(found)] if claim is not found]
    first = max(taken, *(job.number + 1 for job in jobs)) if jobs else taken
    return _discover(jobs, modules, left, claims, first)


def resolve(job: Job, module: ModuleType, claim: Claim | None, ambiguous: bool) -> ResolvedTarget | Finding:
    """The function of a job, or a finding with the reason why there is none.

    It is the outermost one that the module exports, so that what stands above the annotation is examined too. It is
    the annotated object itself for the call form, for what a function made, and, where a place is ``ambiguous`` with
    several claims, for those that did not stay.
    """
    target = job.target
    if target.source in ("config", "rule"):
        return _named(job, module)
    if claim is None:
        reason = target.unreachable or "the import never ran it"
        return _unreached(target, f"the annotation on line {target.mark} cannot be reached: {reason}")
    outer, owner = exported(module, target.qualname)
    if target.source != "call" and outer is not MISSING and wraps(outer, claim.subject):
        return ResolvedTarget(plain(outer, owner), claim.options)
    local = "<locals>" in str(getattr(claim.subject, "__qualname__", ""))
    if target.source == "call" or ambiguous or (target.unreachable and local):
        return ResolvedTarget(plain(claim.subject, None), claim.options)
    if outer is MISSING:
        return _unreached(target, f"the module has no `{target.qualname}` after its import: deleted")
    return _unreached(target, f"shadowed: the module's `{target.qualname}` is another object")


def ambiguous(jobs: Sequence[Job]) -> set[int]:
    """The jobs that share their place with others."""
    crowds = Counter(_target_place(job.target) for job in jobs)
    return {job.number for job in jobs if crowds[_target_place(job.target)] > 1}


def _executed(modules: Mapping[str, ModuleType]) -> dict[ClaimPlace, list[Claim]]:
    """The claims executed so far, without those of a second copy of a module under another name."""
    places: dict[ClaimPlace, list[Claim]] = defaultdict(list)
    for claim in registered():
        if not _is_copy(claim, modules):
            places[_claim_place(claim)].append(claim)
    return places


def _is_copy(claim: Claim, modules: Mapping[str, ModuleType]) -> bool:
    path = _real(claim.path)
    home = sys.modules.get(str(getattr(claim.subject, "__module__", "")))
    return home is not None and file_of(home) == path and home is not modules.get(path, home)


def _is_scanned(job: Job) -> bool:
    return job.target.source != "config"


def _home(target: Target) -> str:
    return _real(os.path.join(target.root, target.path))  # noqa: PTH118


def _target_place(target: Target) -> ClaimPlace:
    path = os.path.join(target.root, target.mark_path or target.path)  # noqa: PTH118
    return _real(path), target.mark, target.claim.value


def _claim_place(claim: Claim) -> ClaimPlace:
    return _real(claim.path), claim.line, claim.kind


@cache
def _real(path: str) -> str:
    return os.path.realpath(path)


def _decorates(left: UnmatchedClaims, target: Target, module: ModuleType) -> Iterator[Claim]:
    """Claims at the target's place on the object that the module exports under its name."""
    if target.source == "decorator":
        yield from (claim for claim in left.get(_target_place(target), ()) if _exports(module, target, claim))


def _same_place(left: UnmatchedClaims, target: Target, module: ModuleType) -> Iterator[Claim]:
    del module
    yield from left.get(_target_place(target), ())


def _same_object(left: UnmatchedClaims, target: Target, module: ModuleType) -> Iterator[Claim]:
    same_kind = (claim for claims in left.values() for claim in claims if claim.kind == target.claim.value)
    return (claim for claim in same_kind if _exports(module, target, claim))


def _exports(module: ModuleType, target: Target, claim: Claim) -> bool:
    outer, _ = exported(module, target.qualname)
    return outer is not MISSING and wraps(outer, claim.subject)


def _discover(
    jobs: Sequence[Job],
    modules: Mapping[str, ModuleType],
    left: UnmatchedClaims,
    claims: Mapping[int, Claim],
    first: int,
) -> tuple[dict[int, Claim], list[Job]]:
    """``claims`` and those that are left in the files of the jobs, with new jobs for these."""
    neighbours = {_home(job.target): job.target for job in reversed(jobs) if _is_scanned(job)}
    unseen = [c for place, several in left.items() if place[0] in modules.keys() & neighbours.keys() for c in several]
    numbered = dict(enumerate(unseen, first))
    taken = {job.target.name for job in jobs}
    found = [
        Job(number, _discovered(claim, neighbours[_claim_place(claim)[0]], modules[_claim_place(claim)[0]], taken))
        for number, claim in numbered.items()
    ]
    return {**claims, **numbered}, found


def _discovered(claim: Claim, neighbour: Target, module: ModuleType, taken: set[str]) -> Target:
    """A target for a claim in the same file as ``neighbour``, named after the object.

    What a function made has the module's name for it, where there is one that no target has yet.
    """
    subject = plain(claim.subject, None)
    name = getattr(subject, "__qualname__", None) or getattr(subject, "__name__", None) or f"line {claim.line}"
    held = name_of_value(module, subject) if "<" in str(name) else None
    name = held if held and f"{neighbour.module}:{held}" not in taken else name
    return Target(
        module=neighbour.module,
        qualname=str(name),
        path=neighbour.path,
        line=claim.line,
        mark=claim.line,
        claim=ClaimKind(claim.kind),
        root=neighbour.root,
        source="call",
    )


def _named(job: Job, module: ModuleType) -> ResolvedTarget | Finding:
    """The object that the configuration names, by plain attribute access."""
    target = job.target
    found: Any = module
    for part in target.qualname.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            near = difflib.get_close_matches(part, dir(found), 1)
            help = f"did you mean `{near[0]}`?" if near else ""
            message = f"the target was not found: `{target.module}` has no `{target.qualname}`"
            return Finding("GRD903", Verdict.ERROR, message, path=target.path, line=target.line, help=help)
    return ResolvedTarget(found, job.options or {})


def _unreached(target: Target, message: str) -> Finding:
    help = "annotate what the module exports, at its top level or in a class there"
    return Finding("GRD502", Verdict.ERROR, message, path=target.path, line=target.mark, help=help)
