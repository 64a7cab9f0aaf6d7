"""In which order does a worker import, examine and answer, and what keeps one job's trouble from the others?

All modules are imported before anything is examined: only then is it known which annotations were executed, and every
target is examined under the same global state, whatever the order of the jobs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import gradhook
from gradhook.model import CheckSettings, Finding, Target, TargetReport
from gradhook.wire import Answered, Began, Bye, Discovered, Hello, Job, Message, Request
from gradhook.worker.claims import Subject, crowded, pair, resolve
from gradhook.worker.faults import escaped, fault, show, stopped
from gradhook.worker.load import load, open_paths

Send = Callable[[Message], None]
Examine = Callable[[Any, Target, Mapping[str, Any], CheckSettings, Callable[[str], None]], TargetReport]
Environment = Callable[[], Mapping[str, Any]]
Loaded = dict[tuple[str, str], ModuleType | Finding]


def _instruments() -> tuple[Examine, Environment]:
    """What loads JAX: here, so that this module, and its tests, do not."""
    from gradhook.worker.environment import environment
    from gradhook.worker.examine import examine

    return examine, environment


def main(request: Request, send: Send, instruments: Callable[[], tuple[Examine, Environment]] = _instruments) -> None:
    """Answer every job of the request but those to skip; nothing that user code raises gets through."""
    examine, environment = instruments()
    send(Hello({**environment(), **_other()}))
    open_paths(request.import_paths)
    loaded = _import(request, send)
    claims, found = pair(request.jobs, _files(request.jobs, loaded))
    for job in found:
        send(Discovered(job))
    jobs = [*request.jobs, *found]
    crowd = crowded(jobs)
    for job in jobs:
        if job.number not in request.skip:
            subject = partial(resolve, job, claim=claims.get(job.number), crowded=job.number in crowd)
            report = _answer(job, loaded[module_of(job.target)], subject, request, send, examine)
            send(Answered(job.number, report, _printed()))
    send(Bye())


def module_of(target: Target) -> tuple[str, str]:
    """What targets of one module have in common."""
    return target.module, target.path


def _import(request: Request, send: Send) -> Loaded:
    """Every module of the request, or the finding that says why it could not be imported."""
    loaded: Loaded = {}
    root = Path(request.root)
    for job in request.jobs:
        key = module_of(job.target)
        if key not in loaded:
            send(Began(job.number, "import", _printed()))
            try:
                loaded[key] = load(job.target)
            except BaseException as error:
                show(error, root)
                loaded[key] = fault("GRD901", error, root)
    return loaded


def _files(jobs: Sequence[Job], loaded: Loaded) -> dict[str, ModuleType]:
    """The modules that were imported from the files of targets, by real path."""
    files = {}
    for job in jobs:
        module = loaded[module_of(job.target)]
        if job.target.source != "config" and not isinstance(module, Finding):
            files[os.path.realpath(Path(job.target.root, job.target.path))] = module
    return files


def _answer(
    job: Job,
    module: ModuleType | Finding,
    find: Callable[[ModuleType], Subject | Finding],
    request: Request,
    send: Send,
    examine: Examine,
) -> TargetReport:
    if isinstance(module, Finding):
        return stopped(job.target, module)
    send(Began(job.number, "start", _printed()))
    try:
        subject = find(module)
        if isinstance(subject, Finding):
            return stopped(job.target, subject)
        return examine(subject.function, job.target, subject.options, request.settings, _announcer(job, send))
    except BaseException as error:
        root = Path(request.root)
        show(error, root)
        return stopped(job.target, escaped(error, root))


def _announcer(job: Job, send: Send) -> Callable[[str], None]:
    return lambda case: send(Began(job.number, case, _printed()))


def _printed() -> int:
    """How far standard error, a file of the parent's, has grown; what C code printed is brought there first."""
    try:
        import ctypes

        ctypes.CDLL(None).fflush(None)
    except (ImportError, OSError, TypeError, AttributeError):
        pass  # no C library to be had by that name: its output comes when it comes
    try:
        return os.fstat(2).st_size
    except OSError:
        return 0  # user code closed it


def _other() -> dict[str, str]:
    """The version of a gradhook that is installed in this environment and differs from the one at work."""
    from importlib.metadata import distributions

    versions = {found.version for found in distributions(name="gradhook")} - {gradhook.__version__}
    return {"other_gradhook": ", ".join(sorted(versions))} if versions else {}
