"""Which files does this process open, for whom, and what was in them at that moment?

Python tells an audit hook of every file that it opens and of every module that it looks for, whoever asks. Code in C
that opens files by itself is not heard of: that is what ``depends_on`` is for.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from gradhook.execution.cache.fingerprints import UNKNOWN, is_foreign, is_installed, is_own, is_standard, seen

_LISTING = ("os.listdir", "os.scandir")
_IMPORTLIB = "<frozen importlib"
_COMPILED = (".pyc", ".pyo")
_MAKING = os.O_WRONLY | os.O_TRUNC | os.O_EXCL


@dataclass
class Witness:
    """What was opened so far. Of the user's files only: what is installed is known by its distribution."""

    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What was in each file (``fingerprints.seen``) when it was first opened."""
    openers: dict[str, set[str]] = field(default_factory=dict)
    """For each file of code, the files that were opened while it was at work."""
    by_job: dict[int, set[str]] = field(default_factory=dict)
    """For each job, what was opened while it was examined."""
    shared: set[str] = field(default_factory=set)
    """Code of the user's that an installed package imported: whoever uses that package may use it."""
    sought: set[str] = field(default_factory=lambda: {"sitecustomize", "usercustomize"})
    """The names of modules that were looked for; these two before anybody could watch."""
    user_function: set[str] = field(default_factory=set)
    job: int | None = None
    ignored: tuple[str, ...] = ()
    """Folders in which nobody's input lies: the cache of a compiler."""
    began: int = field(default_factory=time.time_ns)
    _busy: threading.local = field(default_factory=threading.local)

    def watch(self) -> None:
        """Hear of everything from now on; an audit hook cannot be taken away again."""
        sys.addaudithook(self._heard)

    def note(self, path: str) -> None:
        """Take down what is in a file now, unless that is known from before."""
        if path not in self.files:
            self.files[path] = seen(path)

    def note_late(self, path: str) -> None:
        """The same for a file that is loaded though nobody was seen to open it: what it was then must be old."""
        if path not in self.files:
            state, inside = seen(path)
            fresh = not state or int(state.split(":")[2]) > self.began
            self.files[path] = state, UNKNOWN if fresh else inside

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "import":
            self.sought.add(str(arguments[0]))
        if event not in _LISTING and event != "open":
            return
        if not getattr(self._busy, "on", False):
            self._busy.on = True
            try:
                frame = sys._getframe(1)
                if event == "open":
                    given, mode, flags = arguments
                    self._opened(given, mode, flags, frame)
                else:
                    self._listed(arguments[0], frame)
            except Exception:  # a fault of ours must not become one of whoever opens a file
                self.files[UNKNOWN] = ("", UNKNOWN)
            finally:
                self._busy.on = False

    def _listed(self, given: Any, frame: FrameType) -> None:
        """The user's code asked what is in a folder; Python does so all the time, when it imports."""
        by = _nearest(frame)
        if isinstance(given, int) or frame.f_code.co_filename.startswith(_IMPORTLIB) or by is None or is_foreign(by):
            return
        path = os.path.join(os.path.abspath(os.fsdecode(given or ".")), "")  # noqa: PTH100, PTH118
        if not is_foreign(path):
            self.note(path.replace(os.sep, "/"))
            self._attribute(path.replace(os.sep, "/"), frame)

    def _opened(self, given: Any, mode: Any, flags: Any, frame: FrameType | None) -> None:
        if isinstance(given, int):
            return
        path = source_of(os.path.abspath(os.fsdecode(given)))  # noqa: PTH100
        if is_foreign(path) or path.startswith(self.ignored or ("\0",)):
            return
        if _makes(mode, flags):
            self.user_function.add(path)
        elif mode != "ab" and path not in self.user_function and os.path.isfile(path):  # noqa: PTH113
            self.note(path)
            self._attribute(path, frame)
            if frame is not None and frame.f_code.co_filename.startswith(_IMPORTLIB) and _is_library(_nearest(frame)):
                self.shared.add(path)

    def _attribute(self, path: str, frame: FrameType | None) -> None:
        """Everything on the stack depends on what is opened, and so does the job that is being examined."""
        if self.job is not None:
            self.by_job.setdefault(self.job, set()).add(path)
        while frame is not None:
            file = frame.f_code.co_filename
            if not is_foreign(file):
                self.openers.setdefault(os.path.abspath(file), set()).add(path)  # noqa: PTH100
            frame = frame.f_back


def _nearest(frame: FrameType | None) -> str | None:
    """The file of the nearest code that is not Python's own."""
    while frame is not None and is_standard(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else frame.f_code.co_filename


def _is_library(file: str | None) -> bool:
    return file is not None and is_installed(file) and not is_own(file)


def source_of(path: str) -> str:
    """The source of a compiled file; any other file is its own."""
    if not path.endswith(_COMPILED):
        return path
    try:
        source = importlib.util.source_from_cache(path)
    except ValueError:
        return path
    return source if os.path.isfile(source) else path  # noqa: PTH113


def _makes(mode: Any, flags: Any) -> bool:
    """Whether what was in the file before plays no part any more; what is only appended to is not read either."""
    if isinstance(mode, str):
        return "w" in mode or "x" in mode
    return isinstance(flags, int) and bool(flags & _MAKING)
