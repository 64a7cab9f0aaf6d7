"""What may user code have changed around itself, and how is it put back before the next has its turn?

Imports add up as in one program: what one adds to the environment or to ``sys.path``, and how it configures JAX, is
there for those after it; what it takes away or changes is put back. Every target is examined in the state that the
import of its own module left, under settings that cannot turn its verdict. What cannot be put back asks for a new
process.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from gradhook.execution.worker.boot import apart
from gradhook.execution.worker.user_errors import is_installed

PINNED: Mapping[str, Any] = {
    "jax_debug_nans": False, "jax_debug_infs": False, "jax_disable_jit": False, "jax_check_tracer_leaks": False,
    "jax_numpy_dtype_promotion": "standard", "jax_numpy_rank_promotion": "allow", "jax_default_dtype_bits": "64",
    "jax_no_execution": False, "jax_no_tracing": False,
}  # fmt: skip
"""Under these, questions are answered by a verdict and not by an exception, and are asked in float64."""

_TIMERS = ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")
_STREAMS = {"stdout": 1, "stderr": 2}


@dataclass(frozen=True)
class State:
    """What belongs to the process as a whole; ``output`` is a spare descriptor of what the parent keeps."""

    folder: str
    environ: Mapping[str, str]
    path: tuple[str, ...]
    recursion: int
    handlers: Mapping[int, Any]
    filters: tuple[Any, ...]
    errors: Mapping[str, str]
    config: Mapping[str, Any]
    streams: Mapping[str, Any]
    threads: frozenset[int]
    output: int

    def with_additions(self, later: State) -> State:
        """This state, with what was added since, and with JAX configured as it is then."""
        environ = {**later.environ, **self.environ}
        path = (*self.path, *(entry for entry in later.path if entry not in self.path))
        return replace(self, environ=environ, path=path, config=later.config, threads=later.threads)

    def of(self, left: State) -> State:
        """For a target of the module whose import ``left`` that state."""
        return replace(
            self, folder=left.folder, environ=left.environ, path=left.path, recursion=left.recursion,
            handlers=left.handlers, streams=left.streams,
        )  # fmt: skip


def pinned() -> State:
    """The state after all imports, in which JAX is set to what cannot turn a verdict, as far as it lets itself be."""
    now = taken()
    put_back(replace(now, config={**now.config, **{name: PINNED[name] for name in PINNED if name in now.config}}))
    return replace(now, config=_config())


def taken(output: int | None = None) -> State:
    """The state of the process now."""
    return State(
        folder=_folder(),
        environ=dict(os.environ),
        path=tuple(sys.path),
        recursion=sys.getrecursionlimit(),
        handlers={number: signal.getsignal(number) for number in signal.valid_signals()},
        filters=tuple(warnings.filters),
        errors=_errors(),
        config=_config(),
        streams={name: getattr(sys, name, None) for name in _STREAMS},
        threads=frozenset(sys._current_frames()),
        output=apart(2) if output is None else output,
    )


def put_back(state: State) -> bool:
    """Make the process what it was; False when it cannot become that again."""
    _quiet()
    there = _stand(state.folder)
    heard = _reopen(state)
    if dict(os.environ) != state.environ:
        os.environ.clear()
        os.environ.update(state.environ)
    sys.path[:] = state.path
    sys.setrecursionlimit(state.recursion)
    _handle(state.handlers)
    warnings.filters[:] = state.filters  # type: ignore[index]
    if (numpy := sys.modules.get("numpy")) and _errors() != state.errors:
        numpy.seterr(**state.errors)
    _configure(state.config)
    return there and heard and _config() == state.config and not _is_busy(state.threads)


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 -- it may be gone
    except OSError:
        return ""


def _stand(folder: str) -> bool:
    """Stand in a folder again, if it is still there."""
    try:
        if _folder() != folder:
            os.chdir(folder)
    except OSError:
        return False
    return True


def _quiet() -> None:
    """No alarm, no tracer and no watchdog of one target goes off in the next."""
    for name in _TIMERS:
        if hasattr(signal, name):
            signal.setitimer(getattr(signal, name), 0)
    faulthandler.cancel_dump_traceback_later()
    for silence in (sys.settrace, sys.setprofile, threading.settrace, threading.setprofile):
        silence(None)


def _handle(wanted: Mapping[int, Any]) -> None:
    changed = [n for n, handler in wanted.items() if handler is not None and signal.getsignal(n) is not handler]
    for number in changed:
        signal.signal(number, wanted[number])
    if hasattr(signal, "SIGUSR1") and signal.SIGUSR1 in changed:  # the parent's way to ask where a worker hangs
        faulthandler.unregister(signal.SIGUSR1)
        faulthandler.register(signal.SIGUSR1, 2)


def _reopen(state: State) -> bool:
    """Standard output and error lead to the parent again, whatever was closed, redirected or replaced.

    False when the spare descriptor was closed, too.
    """
    try:
        for number in _STREAMS.values():
            if not _is_same(number, state.output):
                os.dup2(state.output, number)
    except OSError:
        return False
    for name, number in _STREAMS.items():
        stream = state.streams[name]
        if stream is None or getattr(stream, "closed", False):
            stream = os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
        setattr(sys, name, stream)
    return True


def _is_same(one: int, other: int) -> bool:
    there = os.fstat(other)
    try:
        return os.path.samestat(os.fstat(one), there)
    except OSError:
        return False


def _errors() -> dict[str, str]:
    """What NumPy does about overflow and the like; nothing before it is loaded."""
    numpy = sys.modules.get("numpy")
    return dict(numpy.geterr()) if numpy else {}


def _config() -> dict[str, Any]:
    """JAX's options; none before it is loaded."""
    jax = sys.modules.get("jax")
    return dict(jax.config.values) if jax else {}


def _configure(wanted: Mapping[str, Any]) -> None:
    for name, value in _config().items():
        if name in wanted and value != wanted[name]:
            try:
                sys.modules["jax"].config.update(name, wanted[name])
            except Exception:  # some options can be changed once only, others hold a context: the caller compares
                continue


def _is_busy(known: frozenset[int]) -> bool:
    """Whether a thread that was not there before has code of the user's to run; a library's idle pool is no harm."""
    now = sys._current_frames()
    new = now.keys() - known - {threading.get_ident()}
    timers = {thread.ident for thread in threading.enumerate() if isinstance(thread, threading.Timer)}
    return any(number in timers or _is_users(now[number]) for number in new)


def _is_users(frame: FrameType | None) -> bool:
    while frame is not None:
        if not is_installed(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False
