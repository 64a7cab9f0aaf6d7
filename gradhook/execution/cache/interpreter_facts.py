"""Remember whether an interpreter can run the worker, as long as it does not change.

Probing starts a process; the answer depends on the interpreter, on the folders that it imports from and on the files
that extend them.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradhook.execution.cache.fingerprints import content, digest, stamp
from gradhook.execution.cache.store import Store

PYTHONS = "pythons"
InterpreterProbe = Callable[[Path], str]
"""Why an interpreter cannot run the worker; empty if it can."""
_QUERY = "import sys; print(*sys.path, sep='\\n')"
_TIMEOUT = 60


def cached_probe(probe: InterpreterProbe, store: Store) -> InterpreterProbe:
    """The probe, without starting a process for an unchanged interpreter."""

    def remembered(python: Path) -> str:
        if is_script(python):
            return probe(python)
        name = digest("python", str(python.absolute()))
        kept = store.read(PYTHONS, name)
        if isinstance(kept, dict) and kept.get("state") == _state(python, kept.get("path", [])):
            return str(kept["answer"])
        answer = probe(python)
        path = _path(python)
        if path:
            with contextlib.suppress(OSError):
                store.prepare()
                store.write(PYTHONS, name, {"answer": answer, "path": path, "state": _state(python, path)})
        return answer

    return remembered


def is_script(python: Path) -> bool:
    """Whether an interpreter is a script that may start different ones (the shims of pyenv)."""
    try:
        with python.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _path(python: Path) -> list[str]:
    """The ``sys.path`` of an interpreter; empty if it cannot be read."""
    try:
        asked = [str(python), "-I", "-c", _QUERY]
        answer = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return answer.stdout.decode(errors="replace").split("\n")[:-1] if answer.returncode == 0 else []


def _state(python: Path, path: list[str]) -> Any:
    """Everything that the answer depends on; a list, as JSON returns it."""
    folders = [place for place in path if os.path.isdir(place)]  # noqa: PTH112
    extending = [entry.path for folder in folders for entry in _sorted(folder) if entry.name.endswith(".pth")]
    return [
        os.path.realpath(python),
        stamp(os.path.realpath(python)),
        *(content(str(folder / "pyvenv.cfg")) for folder in (python.parent, python.parent.parent)),
        [[place, stamp(place)] for place in path],
        [[file, content(file)] for file in extending],
    ]


def _sorted(folder: str) -> list[os.DirEntry[str]]:
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
