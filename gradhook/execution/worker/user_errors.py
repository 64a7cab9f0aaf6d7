"""Turn exceptions of user code into findings with the user's line."""

from __future__ import annotations

import difflib
import inspect
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from gradhook.annotations import case, gradcheck, raises, surrogate
from gradhook.model.errors import INSTALLED, in_words
from gradhook.model.results import Finding, Target, TargetReport, Verdict

_SHOWN = 3
_ANNOTATIONS: Mapping[str, Callable[..., object]] = {
    "gradcheck": gradcheck, "surrogate": surrogate, "case": case, "raises": raises,
}  # fmt: skip
_UNKNOWN = re.compile(rf"TypeError: ({'|'.join(_ANNOTATIONS)})\(\) got an unexpected keyword argument '(\w+)'.*")

_DOING = {
    "GRD901": "the import failed",
    "GRD902": "the arguments could not be made",
    "GRD903": "the target was not found",
    "GRD904": "the function raised",
    "GRD907": "float64 could not be switched on",
    "GRD908": "gradhook itself failed",
    "GRD909": "the annotation has a wrong option",
}
_PACKAGE = Path(__file__).resolve().parents[2]
_GROUND = frozenset({"jax", "jaxlib", "numpy", "ml_dtypes"})
_STANDARD = os.path.realpath(sysconfig.get_path("stdlib"))


def fault(code: str, error: BaseException, root: Path, *, case: str | None = None, help: str = "") -> Finding:
    """The finding for ``error``: activity (by the code), type, text and the user's last frame."""
    path, line = place(error, root)
    message = f"{_DOING[code]}: {in_words(error)}"
    return Finding(
        code, Verdict.ERROR, message, case=case, path=path, line=line, help=help or _help(code, error, root, path)
    )


def escaped(error: BaseException, root: Path) -> Finding:
    """The finding for an unexpected exception; gradhook's own if no foreign code was on the stack."""
    passed = any(_own(file, root) or _foreign(file) for file, _ in _frames(error.__traceback__))
    return fault("GRD904" if passed else "GRD908", error, root)


def patched(doing: str, replaced: Sequence[str], target: Target) -> Finding:
    """GRD910: functions that were replaced while ``doing``; they are put back."""
    names = ", ".join(replaced[:_SHOWN]) + (f" and {len(replaced) - _SHOWN} more" if len(replaced) > _SHOWN else "")
    message = f"{doing} replaced {names}: what is measured then is not what was asked"
    help = "replace it in a test only, and put it back there"
    return Finding("GRD910", Verdict.ERROR, message, path=target.path, line=target.line, help=help)


def stopped(target: Target, finding: Finding) -> TargetReport:
    """The report about a target that could not be examined."""
    return TargetReport(target, Verdict.ERROR, findings=(finding,))


def place(error: BaseException, root: Path) -> tuple[str | None, int | None]:
    """Path (as ``relative`` gives it) and line of the user's last frame, else of the last foreign one."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return relative(error.filename, root), error.lineno
    frames = _frames(error.__traceback__)
    own = [(file, line) for file, line in frames if _own(file, root)]
    others = [(file, line) for file, line in frames if _foreign(file)]
    for file, line in (own or others)[-1:]:
        return relative(file, root), line
    return None, None


def relative(file: str, root: Path) -> str:
    """``file`` relative to ``root`` if it lies below it, with forward slashes."""
    path = Path(os.path.realpath(file))
    real = Path(os.path.realpath(root))
    return path.relative_to(real).as_posix() if path.is_relative_to(real) else path.as_posix()


def is_installed(file: str) -> bool:
    """Whether a file is a library's, Python's or gradhook's, or is no file on disk."""
    path = Path(os.path.realpath(file))
    installed = not INSTALLED.isdisjoint(path.parts) or path.is_relative_to(_STANDARD) or path.is_relative_to(_PACKAGE)
    return installed or file.startswith("<frozen")


def is_library(file: str) -> bool:
    """Whether a file is an installed library's, other than JAX, NumPy and the like."""
    path = Path(os.path.realpath(file)) if file else Path()
    return not INSTALLED.isdisjoint(path.parts) and _GROUND.isdisjoint(path.parts)


def show(error: BaseException, root: Path) -> None:
    """Print the traceback from the user's first frame on, to standard error."""
    start = error.__traceback__
    while start is not None and not _own(start.tb_frame.f_code.co_filename, root):
        start = start.tb_next
    try:
        traceback.print_exception(type(error), error, start or error.__traceback__)
    except Exception:  # user code closed standard error, or its exception cannot be printed
        return


def _frames(start: TracebackType | None) -> list[tuple[str, int]]:
    return [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(start)]


def _own(file: str, root: Path) -> bool:
    """Whether a file is the project's: below its root, in no environment, and not gradhook's."""
    path = Path(os.path.realpath(file))
    inside = path.is_relative_to(os.path.realpath(root)) and INSTALLED.isdisjoint(path.parts)
    return inside and not file.startswith("<") and not path.is_relative_to(_PACKAGE)


def _foreign(file: str) -> bool:
    """Whether a file is a library's: not gradhook's, JAX's, NumPy's or Python's."""
    path = Path(os.path.realpath(file))
    installed = not INSTALLED.isdisjoint(path.parts)
    standard = path.is_relative_to(_STANDARD) and not installed
    ground = standard or (installed and not _GROUND.isdisjoint(path.parts))
    return not ground and not path.is_relative_to(_PACKAGE) and not file.startswith("<")


def _help(code: str, error: BaseException, root: Path, path: str | None) -> str:
    if code == "GRD908":
        return "this is a mistake in gradhook: please report it, with the output of `gradhook env`"
    if isinstance(error, TypeError) and (unknown := _UNKNOWN.fullmatch(in_words(error))):
        return _keywords(*unknown.groups())
    if isinstance(error, ModuleNotFoundError):
        if path and (root / path).with_name(f"{error.name}.py").is_file():
            return f"{error.name}.py lies beside it, but a single file sees only {root} and its src: make it a package"
        return f"the interpreter was {sys.executable}; name another one with --python or GRADHOOK_PYTHON"
    return ""


def _keywords(name: str, unknown: str) -> str:
    """The valid keywords of an annotation, with the nearest to an unknown one."""
    parameters = inspect.signature(_ANNOTATIONS[name]).parameters.values()
    known = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    near = difflib.get_close_matches(unknown, known, 1)
    hint = f"did you mean {near[0]}=? " if near else ""
    return f"{hint}{name} takes {', '.join(known)}"
