"""Keep targets from affecting each other: process state and replaced functions are restored.

Adding missing names (for an older or newer JAX) does no harm, and what an installed library replaces belongs to the
environment. Any other replacement is undone, and its target gets no verdict. In gradhook everything counts: constants,
members of classes, the code of functions.

Imports add up as in one program: later ones see what earlier ones added to the environment or to ``sys.path``, and
their configuration of JAX; what is removed or changed is restored. Every target is examined in the state that its
own module left after its import, under settings that cannot change its verdict. What cannot be restored needs a new
process.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from gradhook.execution.worker.boot import spare_descriptor
from gradhook.execution.worker.user_errors import is_installed, is_library

Originals = Mapping[tuple[int, str], tuple[Any, str, Any, Any]]
"""By the owner's identity and the name: the module or class, the name in it, the value, and the code of ours."""

_TOPS = frozenset({"jax", "numpy"})
_CLASSES = ("custom_jvp", "custom_vjp")


def originals() -> Originals:
    """The functions and classes in the loaded public modules of JAX and NumPy, and in gradhook."""
    public = {(id(owner), name): (owner, name, value, None) for owner, name, value in _all()}
    return public | {(id(owner), name): (owner, name, value, _code(value)) for owner, name, value in _own()}


def restore_originals(known: Originals) -> list[str]:
    """Put back replaced functions; their names, sorted."""
    replaced = []
    for owner, name, value, code in known.values():
        now = vars(owner).get(name)
        is_ours = owner.__name__.startswith("gradhook") or getattr(owner, "__module__", "").startswith("gradhook")
        if now is not value and (is_ours or not is_library(_file(now))):
            setattr(owner, name, value)
            replaced.append(f"{owner.__name__}.{name}")
        if code is not None and value.__code__ is not code:
            value.__code__ = code
            replaced.append(f"{owner.__name__}.{name}")
    return sorted(replaced)


def _all() -> Iterator[tuple[Any, str, Any]]:
    for module_name, module in list(sys.modules.items()):
        top, _, inner = module_name.partition(".")
        if top in _TOPS and not inner.startswith("_") and module is not None:
            yield from ((module, name, value) for name, value in list(vars(module).items()) if callable(value))
    jax = sys.modules.get("jax")
    for owner in (getattr(jax, name, None) for name in _CLASSES):
        if isinstance(owner, type):
            yield from ((owner, name, value) for name, value in list(vars(owner).items()) if callable(value))


def _own() -> Iterator[tuple[Any, str, Any]]:
    """The members of gradhook's loaded modules and of the classes in them."""
    for module in [m for n, m in list(sys.modules.items()) if n.partition(".")[0] == "gradhook" and m is not None]:
        for name, value in list(vars(module).items()):
            if not name.startswith("__"):
                yield module, name, value
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield from ((value, inner, item) for inner, item in list(vars(value).items()) if callable(item))


def _code(value: Any) -> Any:
    return getattr(value, "__code__", None)


def _file(value: Any) -> str:
    """The file in which a function was defined; empty if it has no code."""
    while not hasattr(value, "__code__") and hasattr(value, "__wrapped__"):
        value = value.__wrapped__  # jit and its like hold the function that was given to them
    code = getattr(value, "__code__", None)
    return str(code.co_filename) if code else ""


PINNED: Mapping[str, Any] = {
    "jax_debug_nans": False, "jax_debug_infs": False, "jax_disable_jit": False, "jax_check_tracer_leaks": False,
    "jax_numpy_dtype_promotion": "standard", "jax_numpy_rank_promotion": "allow", "jax_default_dtype_bits": "64",
    "jax_no_execution": False, "jax_no_tracing": False,
}  # fmt: skip
"""Under these settings, checks give a verdict and not an exception, and compute in float64."""

_TIMERS = ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")
_STREAMS = {"stdout": 1, "stderr": 2}


@dataclass(frozen=True)
class ProcessState:
    """State of the whole process; ``output`` is a spare descriptor of the parent's file."""

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

    def with_additions(self, later: ProcessState) -> ProcessState:
        """This state with later additions and with JAX's later configuration."""
        environ = {**later.environ, **self.environ}
        path = (*self.path, *(entry for entry in later.path if entry not in self.path))
        return replace(self, environ=environ, path=path, config=later.config, threads=later.threads)

    def of(self, left: ProcessState) -> ProcessState:
        """The state for a target of the module whose import ``left`` that state."""
        return replace(
            self, folder=left.folder, environ=left.environ, path=left.path, recursion=left.recursion,
            handlers=left.handlers, streams=left.streams,
        )  # fmt: skip


def pinned_state() -> ProcessState:
    """State after imports, with the JAX options that could change a verdict reset to defaults."""
    now = process_state()
    restore(replace(now, config={**now.config, **{name: PINNED[name] for name in PINNED if name in now.config}}))
    return replace(now, config=_config())


def process_state(output: int | None = None) -> ProcessState:
    """The current state of the process."""
    return ProcessState(
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
        output=spare_descriptor(2) if output is None else output,
    )


def restore(state: ProcessState) -> bool:
    """Restore the process state; False when it cannot be restored completely."""
    _cancel_timers()
    there = _change_folder(state.folder)
    heard = _reopen(state)
    if dict(os.environ) != state.environ:
        os.environ.clear()
        os.environ.update(state.environ)
    sys.path[:] = state.path
    sys.setrecursionlimit(state.recursion)
    _restore_handlers(state.handlers)
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


def _change_folder(folder: str) -> bool:
    """Change to a folder, if it still exists."""
    try:
        if _folder() != folder:
            os.chdir(folder)
    except OSError:
        return False
    return True


def _cancel_timers() -> None:
    """Cancel alarms, tracers and watchdogs that a target left behind."""
    for name in _TIMERS:
        if hasattr(signal, name):
            signal.setitimer(getattr(signal, name), 0)
    faulthandler.cancel_dump_traceback_later()
    for silence in (sys.settrace, sys.setprofile, threading.settrace, threading.setprofile):
        silence(None)


def _restore_handlers(wanted: Mapping[int, Any]) -> None:
    changed = [n for n, handler in wanted.items() if handler is not None and signal.getsignal(n) is not handler]
    for number in changed:
        signal.signal(number, wanted[number])
    if hasattr(signal, "SIGUSR1") and signal.SIGUSR1 in changed:  # the parent lets a hanging worker dump its stack
        faulthandler.unregister(signal.SIGUSR1)
        faulthandler.register(signal.SIGUSR1, 2)


def _reopen(state: ProcessState) -> bool:
    """Reconnect standard output and error to the parent.

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
    """NumPy's handling of overflow and the like; empty before it is loaded."""
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
    """Whether a new thread runs user code; the idle threads of libraries do no harm."""
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
