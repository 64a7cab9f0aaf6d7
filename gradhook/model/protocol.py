"""What crosses between the light process and the worker, and how does it look as a line of JSON?

Every message is one JSON object on one line, ``{"message": name, …fields}``; nan and infinities are the strings
``"nan"``, ``"inf"`` and ``"-inf"``. Both sides come from the same installation, so the version only guards accidents.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NoReturn

from gradhook.model import plots
from gradhook.model import trace as accounts
from gradhook.model.errors import GradhookError
from gradhook.model.results import CheckSettings, Progress, Target, TargetReport

VERSION = 1
_PARTS = {**vars(plots), **vars(accounts)}
"""The names of what a report may hold, which the module of the report itself does not load."""
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True)
class Job:
    """One target to check; ``options`` are the annotation's, for targets that the configuration names."""

    number: int
    target: Target
    options: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Request:
    """All that a worker needs to know, sent on its standard input when it starts; ``Ask`` after ``Ask`` follows."""

    root: str
    import_paths: tuple[str, ...]
    jobs: tuple[Job, ...]
    settings: CheckSettings = field(default_factory=CheckSettings)
    skip: tuple[int, ...] = ()
    """Jobs that nobody is going to ask about: their modules are imported and their claims are known, nothing else."""
    taken: int = 0
    """Numbers below this one are jobs' already, be they sent or not: what is discovered is numbered from here on."""
    trace: bool = False
    """Whether to say at the end on what the answers depend (``Depended``)."""
    slow: bool = True
    """Whether targets that are marked as slow are examined too."""
    version: int = VERSION


@dataclass(frozen=True)
class Hello:
    """The worker has loaded JAX; what it runs on."""

    environment: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Began:
    """The worker turns to a target (``stage`` ``"import"``, or the name of a case): the culprit if it dies now."""

    number: int
    stage: str
    printed: int = 0
    """How many bytes the user's code had printed by then."""


@dataclass(frozen=True)
class Partly:
    """One answer about a job, while others are still to come."""

    number: int
    progress: Progress


@dataclass(frozen=True)
class Answered:
    """The answers about job ``number``."""

    number: int
    report: TargetReport
    printed: int = 0


@dataclass(frozen=True)
class Discovered:
    """A claim that was executed at import though the scan could not see that it would be: from now on a job."""

    job: Job


@dataclass(frozen=True)
class Depended:
    """On what the answers of this worker rest; said once, at the end.

    ``files`` are rows of path, stamp and content (``cache.fingerprints``), ``needs`` maps each job's number, as text,
    to its rows, ``patterns`` to folder, patterns and what they mean. ``common`` is what all answers rest on: ``rows``,
    ``modules`` with their state, ``sites`` of ``cache.installed`` for distributions ``names``, ``variables`` read.
    ``sources`` are the rows of code that Python imported and nobody read otherwise, ``meddled`` those of modules that
    others changed, ``shared`` those of what changed something common to all.
    """

    files: tuple[tuple[str, str, str], ...] = ()
    needs: Mapping[str, Any] = field(default_factory=dict)
    patterns: Mapping[str, Any] = field(default_factory=dict)
    common: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[int, ...] = ()
    meddled: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()


@dataclass(frozen=True)
class Ready:
    """The worker has imported everything, has told what it discovered, and can be asked."""


@dataclass(frozen=True)
class Ask:
    """What the worker is to answer next, sent to it when it is ready or has answered; none: nothing any more."""

    number: int | None = None


@dataclass(frozen=True)
class Bye:
    """The worker ends: nothing is asked any more, or it leaves the ``rest`` to a new one, for it is not what it was."""

    rest: bool = False


Message = Request | Hello | Began | Partly | Answered | Discovered | Ready | Ask | Depended | Bye
_MESSAGES: dict[str, type[Any]] = {kind.__name__: kind for kind in typing.get_args(Message)}


def encode(message: Message) -> str:
    """One line of JSON, without the newline."""
    return json.dumps({"message": type(message).__name__, **plain(message)}, allow_nan=False)


def decode(line: str) -> Message:
    """The message on a line.

    Raises:
        GradhookError: the line is no message of this version.
    """
    try:
        fields = parse(line)
        message: Message = build(_MESSAGES[fields.pop("message")], fields)
    except MISFITS as error:
        text = f"the worker and gradhook do not understand each other: {error}"
        raise GradhookError(text, "install one version of gradhook only") from error
    if isinstance(message, Request) and message.version != VERSION:
        raise GradhookError(f"the request has version {message.version}, not {VERSION}", "install one gradhook only")
    return message


MISFITS = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What ``parse`` and ``build`` raise for what does not fit."""


def parse(text: str | bytes) -> Any:
    """A JSON text; none in which a key of an object stands twice, for readers disagree on which one counts.

    Raises:
        ValueError: the text is no such JSON, ``NaN`` and ``Infinity`` included; a number is too long.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def plain(value: Any) -> Any:
    """Records, mappings and sequences as JSON knows them."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def build(kind: Any, value: Any) -> Any:
    """A value of the annotated type ``kind`` from its JSON form.

    Raises:
        ValueError, KeyError, TypeError: the value is of another type, or lacks a field; see ``MISFITS``.
    """
    return _builder(kind)(value)


def _a(kind: type[Any], value: Any) -> Any:
    """The value, which must be of just this type: JSON's ``true`` is no number."""
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} where {kind.__name__} belongs")
    return value


@functools.cache
def _builder(kind: Any) -> Callable[[Any], Any]:
    """What builds values of a type: a report has hundreds, so a type is looked at once."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return functools.partial(_record, kind, typing.get_type_hints(kind, localns=_PARTS))
    if origin is types.UnionType:
        some = _builder(next(a for a in inner if a is not type(None)))
        return lambda value: None if value is None else some(value)
    if origin is tuple:
        return functools.partial(_tuple, inner[0] if inner[-1] is Ellipsis else None, inner)
    if origin is Mapping or kind in (str, int, bool):
        return functools.partial(_a, dict if origin is Mapping else kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return _number if kind is float else _same


def _record(kind: type[Any], hints: Mapping[str, Any], value: Any) -> Any:
    return kind(**{name: _builder(hints[name])(item) for name, item in _a(dict, value).items()})


def _tuple(every: Any, each: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    """With one type for ``every`` item, or one for ``each``."""
    if every is not None:
        return tuple(map(_builder(every), _a(list, value)))
    return tuple(_builder(kind)(item) for kind, item in zip(each, _a(list, value), strict=True))


def _same(value: Any) -> Any:
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError("bool where a number belongs")
    return _NON_FINITE[value] if isinstance(value, str) else float(value)
