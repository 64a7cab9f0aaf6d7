"""Import, examine and answer, and isolate one job's failures from the others.

All modules are imported before anything is examined: only then is it known which annotations were executed. The process
state is restored after each module and each target; where that fails, a new worker does the rest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import gradhook
from gradhook.annotations import Claim
from gradhook.execution.worker.dependencies.outside_inputs import files
from gradhook.execution.worker.dependencies.recorder import Recorder, recorder
from gradhook.execution.worker.isolation import (
    Originals,
    ProcessState,
    originals,
    pinned_state,
    process_state,
    restore,
    restore_originals,
)
from gradhook.execution.worker.loading.load import load, prepend_paths
from gradhook.execution.worker.loading.resolve import ResolvedTarget, ambiguous, match_claims, resolve
from gradhook.execution.worker.user_errors import escaped, fault, patched, show, stopped
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import (
    Answered,
    Ask,
    Began,
    Bye,
    Discovered,
    Hello,
    Job,
    Message,
    PartialAnswer,
    Ready,
    Request,
)
from gradhook.model.results import (
    CheckSettings,
    Finding,
    ModuleKey,
    OutcomeUpdate,
    Target,
    TargetReport,
    Verdict,
    left_out_report,
)

Send = Callable[[Message], None]
Receive = Callable[[], Ask | None]
Examine = Callable[[Any, Target, Mapping[str, Any], CheckSettings, Callable[[str | OutcomeUpdate], None]], TargetReport]
Environment = Callable[[], Mapping[str, Any]]
Loaded = dict[ModuleKey, ModuleType | Finding]


def _load_numerics() -> tuple[Examine, Environment]:
    """Load JAX and everything that needs it: here, so that this module does not."""
    from gradhook.checks import all_checks
    from gradhook.execution.worker.environment import counted, environment
    from gradhook.execution.worker.examine import examine

    all_checks()  # before any code of the user's
    return counted(examine), environment


def main(
    request: Request,
    send: Send,
    receive: Receive,
    load_numerics: Callable[[], tuple[Examine, Environment]] = _load_numerics,
) -> None:
    """Answer the requested jobs in turn; no exception of user code escapes."""
    examine, environment = load_numerics()
    send(Hello({**environment(), **_other_gradhook()}))
    observed = _recorder() if request.record_dependencies else None
    prepend_paths(request.import_paths)
    known = originals()
    loaded, states = _import(request, send, known)
    claims, found = match_claims(request.jobs, _files(request.jobs, loaded), request.taken)
    for job in found:
        send(Discovered(job))
    jobs = {job.number: job for job in [*request.jobs, *found]}
    crowd, common = ambiguous([*jobs.values()]), pinned_state()
    rest = False
    answered: list[Job] = []
    send(Ready())
    while (asked := receive()) and asked.number is not None:
        job = jobs[asked.number]
        key = job.target.module_key
        if rest := (not restore(common.of(states[key])) and bool(answered)):
            break
        claim = claims.get(job.number)
        subject = partial(resolve, job, claim=claim, ambiguous=job.number in crowd)
        report = _answer(job, loaded[key], subject, request, send, examine, partial(_begin, job, claim, observed))
        if replaced := restore_originals(known):
            report = stopped(job.target, patched("the target", replaced, job.target))
        send(Answered(job.number, report, _printed()))
        answered.append(job)
    if observed:
        _send_dependencies(observed, answered, _roots([*jobs.values()], loaded), send)
    send(Bye(rest))


def _recorder() -> Recorder:
    """A recorder of dependencies, which ignores the cache of JAX's compiler."""
    config = getattr(sys.modules.get("jax"), "config", None)
    folder = getattr(config, "jax_compilation_cache_dir", None)
    return recorder([os.path.abspath(folder)] if folder else [])  # noqa: PTH100


def _send_dependencies(observed: Recorder, jobs: Sequence[Job], roots: Mapping[int, str], send: Send) -> None:
    """Send the dependencies of the answers; if that fails, the answers count for this run only."""
    try:
        message = observed.depended(jobs, roots)
    except Exception as error:
        show(error, Path())
    else:
        send(message)


def _begin(job: Job, claim: Claim | None, recorder: Recorder | None, options: Mapping[str, Any]) -> None:
    """Attribute opened files to this job from now on.

    Raises:
        GradhookError: ``depends_on`` of its annotation is wrong.
    """
    base = os.path.dirname(os.path.abspath(claim.path)) if claim else job.target.root  # noqa: PTH100, PTH120
    if recorder:
        recorder.begin(job.number, options, base)
    else:
        files(options, base)


def _roots(jobs: Sequence[Job], loaded: Loaded) -> dict[int, str]:
    """The file of each job's module, also of one that could not be imported."""
    modules = {job.number: loaded[job.target.module_key] for job in jobs}
    tried = {job.number: os.path.join(job.target.root, job.target.path) for job in jobs}  # noqa: PTH118
    return {
        number: tried[number] if isinstance(module, Finding) else os.path.abspath(module.__file__ or "")  # noqa: PTH100
        for number, module in modules.items()
    }


def _import(request: Request, send: Send, known: Originals) -> tuple[Loaded, dict[ModuleKey, ProcessState]]:
    """Import every module of the request: modules or findings, and the state each import left."""
    loaded: Loaded = {}
    states: dict[ModuleKey, ProcessState] = {}
    root, base = Path(request.root), process_state()
    for job in request.jobs:
        key = job.target.module_key
        if key not in loaded:
            send(Began(job.number, "import", _printed()))
            try:
                loaded[key] = load(job.target)
            except BaseException as error:
                show(error, root)
                loaded[key] = fault("GRD901", error, root)
            if replaced := restore_originals(known):
                loaded[key] = patched(f"the import of {job.target.module}", replaced, job.target)
            states[key] = process_state(base.output)
            base = base.with_additions(states[key])
            restore(base)
    return loaded, states


def _files(jobs: Sequence[Job], loaded: Loaded) -> dict[str, ModuleType]:
    """The modules that were imported from the files of targets, by real path."""
    files = {}
    for job in jobs:
        module = loaded[job.target.module_key]
        if job.target.source != "config" and not isinstance(module, Finding):
            files[os.path.realpath(Path(job.target.root, job.target.path))] = module
    return files


def _answer(
    job: Job,
    module: ModuleType | Finding,
    find: Callable[[ModuleType], ResolvedTarget | Finding],
    request: Request,
    send: Send,
    examine: Examine,
    begin: Callable[[Mapping[str, Any]], None],
) -> TargetReport:
    send(Began(job.number, "start", _printed()))
    if isinstance(module, Finding):
        return stopped(job.target, module)
    try:
        subject = find(module)
        if isinstance(subject, Finding):
            return stopped(job.target, subject)
        if subject.options.get("slow") is True and not request.slow:
            return left_out_report(job.target, "as slow", "--slow checks it")
        begin(subject.options)
        return examine(subject.function, job.target, subject.options, request.settings, _announcer(job, send))
    except GradhookError as error:
        return stopped(job.target, _refused(job.target, error))
    except BaseException as error:
        root = Path(request.root)
        show(error, root)
        return stopped(job.target, escaped(error, root))


def _refused(target: Target, error: GradhookError) -> Finding:
    return Finding("GRD909", Verdict.ERROR, error.message, path=target.path, line=target.line, help=error.help)


def _announcer(job: Job, send: Send) -> Callable[[str | OutcomeUpdate], None]:
    def announce(what: str | OutcomeUpdate) -> None:
        if isinstance(what, OutcomeUpdate):
            send(PartialAnswer(job.number, what))
        else:
            send(Began(job.number, what, _printed()))

    return announce


def _printed() -> int:
    """The size of standard error, a file of the parent; output of C code is flushed first."""
    try:
        import ctypes

        ctypes.CDLL(None).fflush(None)
    except (ImportError, OSError, TypeError, AttributeError):
        pass  # no C library to be had by that name: its output comes when it comes
    try:
        return os.fstat(2).st_size
    except OSError:
        return 0  # user code closed it


def _other_gradhook() -> dict[str, str]:
    """The version of another gradhook that is installed in this environment."""
    from importlib.metadata import distributions

    versions = {found.version for found in distributions(name="gradhook")} - {gradhook.__version__}
    return {"other_gradhook": ", ".join(sorted(versions))} if versions else {}
