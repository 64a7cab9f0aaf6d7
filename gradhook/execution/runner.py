"""Check the targets of one project: from the cache where possible, else by workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

from gradhook import __version__
from gradhook.execution.cache.passes import Recalled
from gradhook.execution.interpreter import choose_interpreter
from gradhook.execution.project_cache import Collected, ProjectCache, open_project_cache, requested_platform
from gradhook.execution.supervisor.pool import interactive_worker, launch
from gradhook.model.protocol import Answered, Began, DependencyReport, Discovered, Message, Request
from gradhook.model.report import ProjectResult
from gradhook.model.results import LEFT_OUT, UNCLAIMED, CheckSettings, Outcome, Target, TargetReport, Verdict
from gradhook.projects.discovery import Project
from gradhook.projects.suppressions import apply_suppressions

Progress = Callable[[Target, str], None]
"""Called with a target and its stage: ``"import"``, ``"start"``, the name of a case, at last its verdict."""


@dataclass(frozen=True)
class RunOptions:
    """Options that all projects of a run share; ``start`` is its ``time.monotonic``."""

    start: float
    progress: Progress | None
    times: Mapping[str, float]
    account: bool


def run(project: Project, options: RunOptions) -> ProjectResult:
    """Check one project; the result of the cache and of workers.

    Raises:
        GradhookError: the project has no interpreter with JAX, or its workers cannot run.
    """
    if options.account:
        cache = ProjectCache(project.config, os.environ)
    else:
        cache = open_project_cache(project.config, os.environ)
    python = cache.python()
    asked = [job.number for job in project.jobs if job.number not in project.left_out]
    recalled = cache.recall(python.path, project.jobs, asked, _import_paths(project))
    if options.progress:
        for report in recalled.reports.values():
            options.progress(report.target, report.verdict.value)
    recalled, collected, result = _answered(
        project, recalled, partial(_launch, python=python.path, cache=cache, options=options)
    )
    cache.keep(project.jobs, collected, result.environment)
    reports = _in_order(project, [*collected.in_order(), *recalled.discovered])
    ours = {"gradhook": __version__, "interpreter": str(python.path), "interpreter_from": python.why}
    off = {"cache": f"off: {cache.unavailable}"} if cache.unavailable else {}
    return ProjectResult(reports, {**result.environment, **ours, **off}, result.interrupted)


def _answered(
    project: Project, recalled: Recalled, start: Callable[[Project, Collected], ProjectResult]
) -> tuple[Recalled, Collected, ProjectResult]:
    """All answers: the recalled ones that the modules imported for the others leave valid, and those others."""
    while True:
        collected = Collected(dict(recalled.reports))
        rest = project.without(recalled.reports)
        if not rest.targets:
            return recalled, collected, ProjectResult(environment=recalled.environment)
        result = start(rest, collected)
        disturbed = recalled.disturbed(collected.depended)
        if result.interrupted or not disturbed:
            return recalled, collected, result
        recalled = recalled.without(disturbed)


def _launch(
    project: Project, collected: Collected, python: Path, cache: ProjectCache, options: RunOptions
) -> ProjectResult:
    settings = project.config.settings
    return launch(
        python,
        replace(request(project, options.account), record_dependencies=cache.on is not None),
        timeout=settings.timeout,
        memory=settings.max_memory,
        workers=settings.jobs,
        times=options.times,
        first=cache.failed([job for job in project.jobs if job.number not in project.left_out]),
        until=None if settings.max_seconds is None else options.start + settings.max_seconds,
        platform=requested_platform(project.config),
        on_message=partial(_collect, {job.number: job.target for job in project.jobs}, collected, options.progress),
    )


def _in_order(project: Project, reports: Iterable[TargetReport]) -> tuple[TargetReport, ...]:
    """Reports in the order of the jobs; discovered ones after them, in the order of the modules."""
    jobs = project.jobs
    place = {job.target: job.number for job in reversed(jobs)}
    module = {job.target.module_key: job.number for job in reversed(jobs)}

    def key(report: TargetReport) -> tuple[int, int]:
        target = report.target
        return place.get(target, len(jobs)), module.get(target.module_key, len(jobs))

    return tuple(sorted(reports, key=key))


@contextmanager
def interactive(
    project: Project, python: str | None = None, discovered: Callable[[Target], None] = lambda target: None
) -> Iterator[Callable[[int], TargetReport]]:
    """A function that examines a job of the project on demand, in one worker for all.

    ``python`` is the interpreter where the settings name none; ``discovered`` is called for claims the scan missed.

    Raises:
        GradhookError: the project has no interpreter with JAX; when a job is examined, its worker cannot run.
    """
    config, settings = project.config, project.config.settings
    chosen = choose_interpreter(settings.python or python, config.root, os.environ, origin=config.origins["python"])
    with interactive_worker(
        chosen.path,
        request(project),
        timeout=settings.timeout,
        memory=settings.max_memory,
        platform=requested_platform(config),
        on_message=lambda message: discovered(message.job.target) if isinstance(message, Discovered) else None,
    ) as ask:

        def answer(number: int) -> TargetReport:
            report = _unclaimed_as_skip(ask(number))
            return apply_suppressions(config, project.scan, (report,), whole=False).targets[0]

        yield answer


def _unclaimed_as_skip(report: TargetReport) -> TargetReport:
    """The report, as a skip if it has errors about an unclaimed rule: its inputs were generated."""
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
    # Every job of a module that is imported: the worker reports claims without a job as new ones.
    modules = {job.target.module_key for job in jobs if job.number not in project.left_out}
    needed = tuple(job for job in jobs if job.target.module_key in modules)
    skip = tuple(job.number for job in needed if job.number in project.left_out)
    checks = CheckSettings(**shared, trace=account)
    return Request(str(root), _import_paths(project), needed, checks, skip, taken=len(jobs), slow=settings.slow)


def _import_paths(project: Project) -> tuple[str, ...]:
    """The folders that a worker imports from first."""
    root = project.config.root
    return tuple(str(path) for path in (root, root / "src") if path.is_dir())


def _collect(targets: dict[int, Target], collected: Collected, progress: Progress | None, message: Message) -> None:
    """Collect the reports and dependencies in workers' messages, and report progress."""
    if isinstance(message, Answered):
        collected.reports[message.number] = _unclaimed_as_skip(message.report)
    if isinstance(message, DependencyReport):
        collected.depended.append(message)
    if isinstance(message, Discovered):
        targets[message.job.number] = message.job.target
    if progress and isinstance(message, Began):
        progress(targets[message.number], message.stage)
    if progress and isinstance(message, Answered):
        progress(targets[message.number], message.report.verdict.value)
