"""Record the files that this process opens, from which code, and their content at that moment.

Python's audit hook reports every file that it opens and every module that it looks for. C code that opens files itself
is not seen: that is what ``depends_on`` is for.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from gradhook.execution.cache.fingerprints import UNKNOWN, is_foreign, is_installed, is_own, is_standard, project, seen

_LISTING = ("os.listdir", "os.scandir")
_IMPORTLIB = "<frozen importlib"
_COMPILED = (".pyc", ".pyo")
_METADATA = ("METADATA", "PKG-INFO", "entry_points.txt")
_HEADER = 16
"""Bytes of a compiled file before its code (PEP 552)."""
_MAKING = os.O_WRONLY | os.O_TRUNC | os.O_EXCL


@dataclass
class FileAudit:
    """The user's files opened so far; installed files are identified by their distribution."""

    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What was in each file (``fingerprints.seen``) when it was first opened."""
    openers: dict[str, set[str]] = field(default_factory=dict)
    """For each file of code, the files that were opened while it ran."""
    by_job: dict[int, set[str]] = field(default_factory=dict)
    """For each job, what was opened while it was examined."""
    shared: set[str] = field(default_factory=set)
    """User code that an installed package imported: every user of that package may use it."""
    sought: set[str] = field(default_factory=lambda: {"sitecustomize", "usercustomize"})
    """The names of modules that were looked for; these two before the hook was set."""
    imported: set[str] = field(default_factory=set)
    """The files from which Python itself took code to run."""
    read: set[str] = field(default_factory=set)
    """The files that were opened otherwise: in them comments and layout may matter."""
    doubted: set[str] = field(default_factory=set)
    """Sources in place of which Python ran byte code of another text."""
    asked: set[str] = field(default_factory=set)
    """The distributions whose metadata user code read, loaded or not."""
    written: set[str] = field(default_factory=set)
    job: int | None = None
    ignored: tuple[str, ...] = ()
    """Folders whose files are no inputs: the cache of a compiler."""
    began: int = field(default_factory=time.time_ns)
    _busy: threading.local = field(default_factory=threading.local)

    def watch(self) -> None:
        """Record every file from now on; an audit hook cannot be removed."""
        sys.addaudithook(self._on_event)

    def record(self, path: str) -> None:
        """Record the content of a file now, unless it was recorded before."""
        if path not in self.files:
            self.files[path] = seen(path)

    def record_late(self, path: str) -> None:
        """Record a file loaded before the hook; its content counts only if older than this process."""
        if path not in self.files:
            state, inside = seen(path)
            fresh = not state or int(state.split(":")[2]) > self.began
            self.files[path] = state, UNKNOWN if fresh else inside

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
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
            except Exception:  # an error here must not break the code that opens a file
                self.files[UNKNOWN] = ("", UNKNOWN)
            finally:
                self._busy.on = False

    def _listed(self, given: Any, frame: FrameType) -> None:
        """Record a folder that user code lists; Python's own imports list folders all the time."""
        by = _nearest(frame)
        if isinstance(given, int) or frame.f_code.co_filename.startswith(_IMPORTLIB) or by is None or is_foreign(by):
            return
        path = os.path.join(os.path.abspath(os.fsdecode(given or ".")), "")  # noqa: PTH100, PTH118
        if not is_foreign(path):
            self.record(path.replace(os.sep, "/"))
            self._attribute(path.replace(os.sep, "/"), frame)

    def _opened(self, given: Any, mode: Any, flags: Any, frame: FrameType | None) -> None:
        if isinstance(given, int):
            return
        path = source_of(os.path.abspath(os.fsdecode(given)))  # noqa: PTH100
        if path.endswith(_METADATA) and not is_foreign(_nearest(frame) or os.sep):
            self.asked.add(project(os.path.basename(os.path.dirname(path))))  # noqa: PTH119, PTH120
        if is_foreign(path) or path.startswith(self.ignored or ("\0",)):
            return
        if _makes(mode, flags):
            self.written.add(path)
        elif mode != "ab" and path not in self.written and os.path.isfile(path):  # noqa: PTH113
            self.record(path)
            if _imports(frame):
                self.imported.add(path)
                self._doubt(path, os.fsdecode(given))
            elif not is_own(_nearest(frame) or ""):
                self.read.add(path)
            self._attribute(path, frame)
            if frame is not None and frame.f_code.co_filename.startswith(_IMPORTLIB) and _is_library(_nearest(frame)):
                self.shared.add(path)

    def _doubt(self, path: str, opened: str) -> None:
        """Byte code that is not that of its source (same size, same time) says nothing about what the source holds.

        Python opens the source afterwards where it sees that itself.
        """
        if opened.endswith(_COMPILED) and not _is_of(opened, path):
            self.doubted.add(path)
        else:
            self.doubted.discard(path)

    def disown(self) -> None:
        """Of what came from byte code of another text it is unknown what was in it."""
        for path in self.doubted:
            self.files[path] = self.files[path][0], UNKNOWN

    def _attribute(self, path: str, frame: FrameType | None) -> None:
        """Attribute an opened file to everything on the stack and to the current job."""
        if self.job is not None:
            self.by_job.setdefault(self.job, set()).add(path)
        while frame is not None:
            file = frame.f_code.co_filename
            if not is_foreign(file):
                self.openers.setdefault(os.path.abspath(file), set()).add(path)  # noqa: PTH100
            frame = frame.f_back


def _nearest(frame: FrameType | None) -> str | None:
    """The file of the nearest code outside the standard library."""
    while frame is not None and is_standard(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else frame.f_code.co_filename


def _imports(frame: FrameType | None) -> bool:
    """Whether it is Python's own loader that reads code in order to run it."""
    names: list[str] = []
    while frame is not None and frame.f_code.co_filename.startswith(_IMPORTLIB) and len(names) < 2:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names == ["get_data", "get_code"]


def _is_of(compiled: str, source: str) -> bool:
    """Whether byte code is that of a source: written after it was last changed, or the same as compiling it gives."""
    if compiled == source:
        return True
    try:
        if os.stat(source).st_ctime_ns < os.stat(compiled).st_ctime_ns:  # noqa: PTH116
            return True
        with open(compiled, "rb") as file, open(source, "rb") as text:  # noqa: PTH123
            code = marshal.loads(file.read()[_HEADER:])
            return bool(code == compile(text.read(), source, "exec", dont_inherit=True))
    except (OSError, ValueError, EOFError, TypeError, SyntaxError, RecursionError):
        return False


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
    """Whether opening replaces the file's content; appending does not read it either."""
    if isinstance(mode, str):
        return "w" in mode or "x" in mode
    return isinstance(flags, int) and bool(flags & _MAKING)
