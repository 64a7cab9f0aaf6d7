"""Choose the Python interpreter of a project.

A configured one; else the first that has JAX of: an environment active on PATH, conda's, uv's, ``.venv`` and ``venv``
of the project, our own. pre-commit puts its own environment in front of the user's on PATH and into ``VIRTUAL_ENV``,
so neither shows that it is the user's.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gradhook.execution.cache.interpreter_facts import InterpreterProbe
from gradhook.model.errors import GradhookError

_BIN, _EXE = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
_OLDEST_PYTHON = (3, 11)
_OLDEST_JAX = (0, 8)
_TIMEOUT = 60
_REMEDY = (
    "install JAX into the project's environment (pip install jax), or name the interpreter that has it: --python PATH, "
    "GRADHOOK_PYTHON=PATH, or python = 'PATH' in [tool.gradhook]"
)
_HOOK_REMEDY = (
    "; for code that needs nothing but JAX, the hook's own environment will do: additional_dependencies: [jax]"
)
_QUERY = """
import sys
import importlib.util
print(".".join(map(str, sys.version_info[:3])))
if importlib.util.find_spec("jax"):
    import importlib.metadata
    try:
        print(importlib.metadata.version("jax"))
    except importlib.metadata.PackageNotFoundError:
        print("unknown")
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python that has JAX, the reason why it was chosen, and the ones that failed before it."""

    path: Path
    why: str
    tried: tuple[str, ...] = ()


def unusable_reason(python: Path) -> str:
    """The reason why ``python`` cannot run the worker; empty if it can. Our own is probed here."""
    if not python.exists():
        return "no such file"
    if _same(python, Path(sys.executable)):
        has_jax = importlib.util.find_spec("jax") is not None
        return _missing(sys.version_info[:3], _own_jax() if has_jax else None)
    try:
        answer = subprocess.run(
            [str(python), "-I", "-c", _QUERY], stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be run: {error}"
    version, *jax = answer.stdout.decode(errors="replace").split() or [""]
    if answer.returncode or not re.fullmatch(r"\d+\.\d+\.\d+", version):
        return "is no Python that can be asked"
    return _missing(_numbers(version), jax[0] if jax else None)


def choose_interpreter(
    named: str | None,
    root: Path,
    environ: Mapping[str, str],
    *,
    origin: str = "--python",
    probe: InterpreterProbe = unusable_reason,
) -> Interpreter:
    """The interpreter for the project at ``root``; ``origin`` is where ``named`` was configured.

    Raises:
        GradhookError: the named one is missing or has no JAX, or none was found: with all that was tried.
    """
    if named:
        return _named(named, environ, origin, probe)
    tried: list[str] = []
    seen: set[Path] = set()
    for why, python in _candidates(root, environ):
        if python.absolute() in seen:
            continue
        seen.add(python.absolute())
        reason = probe(python)
        if not reason:
            return Interpreter(python, why, tuple(tried))
        tried.append(f"{why}: {python} ({reason})")
    listed = "".join(f"\n  {line}" for line in tried)
    hooked = _HOOK_REMEDY if environ.get("PRE_COMMIT") else ""
    raise GradhookError(f"no Python with JAX was found for {root}; tried:{listed}", _REMEDY + hooked)


def _named(named: str, environ: Mapping[str, str], origin: str, probe: InterpreterProbe) -> Interpreter:
    path = Path(named).expanduser()
    if len(path.parts) == 1 and not path.exists():
        path = Path(shutil.which(named, path=environ.get("PATH")) or named)
    if path.is_dir():
        path = path / _BIN / _EXE
    if reason := probe(path.absolute()):
        raise GradhookError(f"{path}, named by {origin}: {reason}", _REMEDY)
    return Interpreter(path.absolute(), origin)


def _candidates(root: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    for environment in _active(environ):
        yield "active on PATH", _python(environment)
    if conda := environ.get("CONDA_PREFIX"):
        yield "CONDA_PREFIX", Path(conda, _EXE) if sys.platform == "win32" else _python(Path(conda))
    if project := environ.get("UV_PROJECT_ENVIRONMENT"):
        yield "UV_PROJECT_ENVIRONMENT", _python(root / project)
    for folder in _upwards(root):
        for name in (".venv", "venv"):
            if (folder / name).is_dir():
                yield name, _python(folder / name)
    yield "gradhook's own", Path(sys.executable)


def _active(environ: Mapping[str, str]) -> Iterator[Path]:
    """Virtual environments on PATH, in order; our own unless pre-commit put it there."""
    for entry in environ.get("PATH", "").split(os.pathsep):
        environment = Path(entry).parent
        if entry and (environment / "pyvenv.cfg").is_file() and _python(environment).exists():
            own = environment.resolve() == Path(sys.prefix).resolve()
            if not (own and environ.get("PRE_COMMIT")):
                yield environment


def _upwards(root: Path) -> Iterator[Path]:
    """The project and its parents up to the repository: workspaces share an environment."""
    for folder in (root, *root.parents):
        yield folder
        if (folder / ".git").exists():
            return
        if not any((parent / ".git").exists() for parent in folder.parents):
            return


def _python(environment: Path) -> Path:
    return environment / _BIN / _EXE


def _missing(python: tuple[int, ...], jax: str | None) -> str:
    """The reason why an environment with these versions is not enough; empty if it is."""
    if python < _OLDEST_PYTHON:
        return f"is Python {_dotted(python[:2])}, gradhook needs {_dotted(_OLDEST_PYTHON)} or newer"
    if jax is None:
        return "has no jax"
    if (numbers := _numbers(jax)) and numbers < _OLDEST_JAX:
        return f"has jax {jax}, gradhook needs {_dotted(_OLDEST_JAX)} or newer"
    return ""


def _own_jax() -> str:
    import importlib.metadata  # 20 ms, in a program that should start in less than 150

    try:
        return importlib.metadata.version("jax")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version; none when it is unknown."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are one interpreter; environments may share a binary but not a folder."""
    return one.parent.absolute() == other.parent.absolute() and one.resolve() == other.resolve()
