"""How do the targets of one project get their answers: from what is kept, else from workers?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from gradhook import __version__
from gradhook.execution.cache.passes import Recalled
from gradhook.execution.interpreter import choose
from gradhook.execution.project_cache import Answers, Memory, memory, platform
from gradhook.execution.supervisor.pool import Launched, desk, launch
from gradhook.model.protocol import Answered, Began, DependencyReport, Discovered, Job, Message, Request
from gradhook.model.results import LEFT_OUT, UNCLAIMED, CheckSettings, Outcome, Target, TargetReport, Verdict
from gradhook.projects.discovery import Project
from gradhook.projects.suppressions import hear

Progress = Callable[[Target, str], None]
"""Hears which target is at which stage: ``"import"``, ``"start"``, the name of a case, at last its verdict."""
Ran = tuple[tuple[TargetReport, ...], dict[str, Any], bool]


@dataclass(frozen=True)
class Way:
    """How the projects of a run are checked, and since when."""

    start: float
    progress: Progress | None
    times: Mapping[str, float]
    account: bool


def run(project: Project, way: Way) -> Ran:
    """The reports about one project, what they rest on, and whether something cut it short.

    Raises:
        GradhookError: the project has no interpreter with JAX, or its workers cannot run.
    """
    known = Memory(project.config, os.environ) if way.account else memory(project.config, os.environ)
    python = known.python()
    asked = [job.number for job in project.jobs if job.number not in project.left_out]
    recalled = known.recall(python.path, project.jobs, asked, _import_paths(project))
    if way.progress:
        for report in recalled.reports.values():
            way.progress(report.target, report.verdict.value)
    recalled, answers, launched = _answered(
        project, recalled, partial(_launch, python=python.path, known=known, way=way)
    )
    known.keep(project.jobs, answers, launched.environment)
    reports = _in_order(project, [*answers.in_order(), *recalled.discovered])
    ours = {"gradhook": __version__, "interpreter": str(python.path), "interpreter_from": python.why}
    off = {"cache": f"off: {known.trouble}"} if known.trouble else {}
    return reports, {**launched.environment, **ours, **off}, launched.interrupted


def _answered(
    project: Project, recalled: Recalled, start: Callable[[Project, Answers], Launched]
) -> tuple[Recalled, Answers, Launched]:
    """All answers: the recalled ones, as far as what is imported for the others leaves them alone, and those others."""
    while True:
        answers = Answers(dict(recalled.reports))
        rest = project.without(recalled.reports)
        if not rest.targets:
            return recalled, answers, Launched((), recalled.environment)
        launched = start(rest, answers)
        disturbed = recalled.disturbed(answers.depended)
        if launched.interrupted or not disturbed:
            return recalled, answers, launched
        recalled = recalled.without(disturbed)


def _launch(project: Project, answers: Answers, python: Path, known: Memory, way: Way) -> Launched:
    settings = project.config.settings
    return launch(
        python,
        replace(request(project, way.account), record_dependencies=known.on is not None),
        timeout=settings.timeout,
        memory=settings.max_memory,
        workers=settings.jobs,
        times=way.times,
        first=known.failed([job for job in project.jobs if job.number not in project.left_out]),
        until=None if settings.max_seconds is None else way.start + settings.max_seconds,
        platform=platform(project.config),
        on_message=partial(_follow, {job.number: job.target for job in project.jobs}, answers, way.progress),
    )


def _in_order(project: Project, reports: Iterable[TargetReport]) -> tuple[TargetReport, ...]:
    """In the order of the jobs; what was discovered comes after, in the order of the modules."""
    jobs = project.jobs
    place = {job.target: job.number for job in reversed(jobs)}
    module = {_module(job): job.number for job in reversed(jobs)}

    def key(report: TargetReport) -> tuple[int, int]:
        target = report.target
        return place.get(target, len(jobs)), module.get((target.module, target.path), len(jobs))

    return tuple(sorted(reports, key=key))


@contextmanager
def asking(
    project: Project, python: str | None = None, discovered: Callable[[Target], None] = lambda target: None
) -> Iterator[Callable[[int], TargetReport]]:
    """What answers the jobs of a project one by one, when it is asked, in one worker that starts with the first.

    ``python`` is the interpreter where the settings name none; ``discovered`` hears of claims that the scan missed.

    Raises:
        GradhookError: the project has no interpreter with JAX; when asked, its worker cannot run.
    """
    config, settings = project.config, project.config.settings
    chosen = choose(settings.python or python, config.root, os.environ, origin=config.origins["python"])
    with desk(
        chosen.path,
        request(project),
        timeout=settings.timeout,
        memory=settings.max_memory,
        platform=platform(config),
        on_message=lambda message: discovered(message.job.target) if isinstance(message, Discovered) else None,
    ) as ask:
        yield lambda number: hear(config, project.scan, (_lenient(ask(number)),), whole=False).targets[0]


def _lenient(report: TargetReport) -> TargetReport:
    """Of a rule that nobody asked about, what goes wrong with the inputs that were made up for it is no error."""
    errors = [finding for finding in report.findings if finding.verdict is Verdict.ERROR]
    if report.target.source != "rule" or not errors or any(error.code == LEFT_OUT for error in errors):
        return report
    why = "; ".join(dict.fromkeys(error.message for error in errors))
    note = f"unclaimed rule, it could not be checked with inputs from its annotations: {why}"
    return replace(report, verdict=Verdict.SKIP, outcomes=(Outcome(UNCLAIMED, Verdict.SKIP, note=note),), findings=())


def request(project: Project, account: bool = False) -> Request:
    root, settings = project.config.root, project.config.settings
    shared = {f.name: getattr(settings, f.name) for f in fields(CheckSettings) if f.name != "trace"}
    jobs = project.jobs
    modules = {_module(job) for job in jobs if job.number not in project.left_out}
    needed = tuple(job for job in jobs if _module(job) in modules)
    skip = tuple(job.number for job in needed if job.number in project.left_out)
    checks = CheckSettings(**shared, trace=account)
    return Request(str(root), _import_paths(project), needed, checks, skip, taken=len(jobs), slow=settings.slow)


def _import_paths(project: Project) -> tuple[str, ...]:
    """From where a worker imports before it looks elsewhere."""
    root = project.config.root
    return tuple(str(path) for path in (root, root / "src") if path.is_dir())


def _module(job: Job) -> tuple[str, str]:
    """What is imported for a job; a claim that no job is about would be taken for a discovery, so all of them go."""
    return job.target.module, job.target.path


def _follow(targets: dict[int, Target], answers: Answers, progress: Progress | None, message: Message) -> None:
    """Keep what workers say, and tell ``progress`` of it in its own words."""
    if isinstance(message, Answered):
        answers.reports[message.number] = _lenient(message.report)
    if isinstance(message, DependencyReport):
        answers.depended.append(message)
    if isinstance(message, Discovered):
        targets[message.job.number] = message.job.target
    if progress and isinstance(message, Began):
        progress(targets[message.number], message.stage)
    if progress and isinstance(message, Answered):
        progress(targets[message.number], message.report.verdict.value)
