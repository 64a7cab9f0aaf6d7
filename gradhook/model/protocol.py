"""Messages between the command and its workers, and their JSON.

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

from gradhook.model import trace
from gradhook.model.errors import GradhookError
from gradhook.model.results import CheckSettings, OutcomeUpdate, Target, TargetReport

VERSION = 1
_REPORT_TYPES = vars(trace)
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
    """The work of a worker, sent on its standard input at its start; ``Ask`` after ``Ask`` follows."""

    root: str
    import_paths: tuple[str, ...]
    jobs: tuple[Job, ...]
    settings: CheckSettings = field(default_factory=CheckSettings)
    skip: tuple[int, ...] = ()
    """Jobs that are not going to be checked: their modules are imported and their claims registered, nothing else."""
    taken: int = 0
    """Numbers below this one are jobs' already, be they sent or not: what is discovered is numbered from here on."""
    record_dependencies: bool = False
    """Whether to report at the end what the results depend on (``DependencyReport``)."""
    slow: bool = True
    """Whether targets that are marked as slow are examined too."""
    version: int = VERSION


@dataclass(frozen=True)
class Hello:
    """The worker has loaded JAX; what it runs on."""

    environment: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Began:
    """The worker begins with a target at a ``stage``: ``"import"``, or a case; blamed if it dies now."""

    number: int
    stage: str
    printed: int = 0
    """How many bytes the user's code had printed by then."""


@dataclass(frozen=True)
class PartialAnswer:
    """One outcome of a job, while others are still to come."""

    number: int
    progress: OutcomeUpdate


@dataclass(frozen=True)
class Answered:
    """The results of job ``number``."""

    number: int
    report: TargetReport
    printed: int = 0


@dataclass(frozen=True)
class Discovered:
    """A claim executed at import that the scan did not find; from now on a job."""

    job: Job


@dataclass(frozen=True)
class DependencyReport:
    """What the results of this worker depend on; sent once, at the end.

    ``files`` are rows of path, stamp and content (``cache.fingerprints``), ``needs`` maps each job's number, as text,
    to its rows, ``patterns`` to folder, patterns and what they mean. ``common`` is what all answers rest on: ``rows``,
    ``modules`` with their state, ``sites`` of ``cache.installed`` for distributions ``names``, ``variables`` read.
    ``sources`` are the rows of code opened only by Python's import, ``mutated`` those of modules that others changed,
    ``shared`` those of what changed something common to all.
    """

    files: tuple[tuple[str, str, str], ...] = ()
    needs: Mapping[str, Any] = field(default_factory=dict)
    patterns: Mapping[str, Any] = field(default_factory=dict)
    common: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[int, ...] = ()
    mutated: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()


@dataclass(frozen=True)
class Ready:
    """The worker has imported everything, has reported what it discovered, and accepts ``Ask``."""


@dataclass(frozen=True)
class Ask:
    """The job that the worker checks next, sent when it is ready or has answered; None ends it."""

    number: int | None = None


@dataclass(frozen=True)
class Bye:
    """The worker ends: no job is left, or its state has changed and the ``rest`` is for a new one."""

    rest: bool = False


Message = Request | Hello | Began | PartialAnswer | Answered | Discovered | Ready | Ask | DependencyReport | Bye
_MESSAGES: dict[str, type[Any]] = {kind.__name__: kind for kind in typing.get_args(Message)}


def encode(message: Message) -> str:
    """One line of JSON, without the newline."""
    return json.dumps({"message": type(message).__name__, **to_json(message)}, allow_nan=False)


def decode(line: str) -> Message:
    """The message on a line.

    Raises:
        GradhookError: the line is no message of this version.
    """
    try:
        fields = parse(line)
        message: Message = from_json(_MESSAGES[fields.pop("message")], fields)
    except DECODING_ERRORS as error:
        text = f"the worker and gradhook do not understand each other: {error}"
        raise GradhookError(text, "install one version of gradhook only") from error
    if isinstance(message, Request) and message.version != VERSION:
        raise GradhookError(f"the request has version {message.version}, not {VERSION}", "install one gradhook only")
    return message


DECODING_ERRORS = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What ``parse`` and ``build`` raise for what does not fit."""


def parse(text: str | bytes) -> Any:
    """Parse JSON; refuse an object in which a key stands twice, for readers disagree on which one counts.

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


def to_json(value: Any) -> Any:
    """Records, mappings and sequences as values that ``json`` takes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def from_json(kind: Any, value: Any) -> Any:
    """A value of the annotated type ``kind`` from its JSON form.

    Raises:
        ValueError, KeyError, TypeError: the value is of another type, or lacks a field; see ``DECODING_ERRORS``.
    """
    return _builder(kind)(value)


def _require_type(kind: type[Any], value: Any) -> Any:
    """The value, which must be of just this type: JSON's ``true`` is no number."""
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} where {kind.__name__} belongs")
    return value


@functools.cache
def _builder(kind: Any) -> Callable[[Any], Any]:
    """What builds values of a type: a report has hundreds, so a type is looked at once."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return functools.partial(_record, kind, typing.get_type_hints(kind, localns=_REPORT_TYPES))
    if origin is types.UnionType:
        some = _builder(next(a for a in inner if a is not type(None)))
        return lambda value: None if value is None else some(value)
    if origin is tuple:
        return functools.partial(_tuple, inner[0] if inner[-1] is Ellipsis else None, inner)
    if origin is Mapping or kind in (str, int, bool):
        return functools.partial(_require_type, dict if origin is Mapping else kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return _number if kind is float else _unchanged


def _record(kind: type[Any], hints: Mapping[str, Any], value: Any) -> Any:
    return kind(**{name: _builder(hints[name])(item) for name, item in _require_type(dict, value).items()})


def _tuple(every: Any, each: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    """With one type for ``every`` item, or one for ``each``."""
    if every is not None:
        return tuple(map(_builder(every), _require_type(list, value)))
    return tuple(_builder(kind)(item) for kind, item in zip(each, _require_type(list, value), strict=True))


def _unchanged(value: Any) -> Any:
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError("bool where a number belongs")
    return _NON_FINITE[value] if isinstance(value, str) else float(value)
