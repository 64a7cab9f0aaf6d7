"""The report of one run: targets, notices, ignored findings and weakened claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradhook.model.results import TargetReport, Verdict, worst


@dataclass(frozen=True)
class Notice:
    """A remark about a place in the code that is no result of a target (GRD501, GRD502, …)."""

    code: str
    path: str
    line: int
    message: str
    root: str = field(default="", compare=False)
    """The project that ``path`` starts at, as long as it does."""
    lines: tuple[int, ...] = field(default=(), compare=False)
    """Further lines whose comments may ignore it, besides ``line``."""


@dataclass(frozen=True)
class Ignored:
    """A finding or a notice that was ignored, and the setting or comment that did so.

    ``target`` is empty for a notice.
    """

    code: str
    by: str
    path: str
    line: int | None
    message: str
    target: str = ""
    verdict: Verdict | None = None
    case: str | None = None
    root: str = field(default="", compare=False)


@dataclass(frozen=True)
class Change:
    """A claim or a setting that is weaker than at the revision compared with (GRD505).

    ``kind`` is ``"removed"``, ``"weakened"``, or ``"changed"`` where only the text is known; ``subject`` is the name of
    a target, a file, or ``"configuration"``; ``what`` is an option, a setting, ``"claim"`` or ``"comment"``.
    """

    kind: str
    subject: str
    what: str
    before: str
    after: str
    path: str
    line: int


@dataclass(frozen=True)
class ProjectResult:
    """Reports about the targets of one project, what they were made with, and whether an interrupt ended the run."""

    reports: tuple[TargetReport, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)
    interrupted: bool = False
    """Whether Ctrl-C ended the run: targets without a report were not examined."""


@dataclass(frozen=True)
class Report:
    """One run of ``gradhook check``."""

    targets: tuple[TargetReport, ...]
    notices: tuple[Notice, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    ignored: tuple[Ignored, ...] = ()
    against: tuple[Change, ...] | None = None
    """What is weaker than at the revision named with ``--against``; None without one."""
    interrupted: bool = False
    unanswered: tuple[str, ...] = ()
    """The names of the targets that an interrupt left without an answer."""

    @property
    def counts(self) -> dict[Verdict, int]:
        """The number of targets with each verdict, and of pieces of advice, which is no target's verdict."""
        advised = sum(f.verdict is Verdict.ADVICE for t in self.targets for f in t.findings)
        return {v: sum(t.verdict is v for t in self.targets) for v in Verdict} | {Verdict.ADVICE: advised}

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict of all targets."""
        return worst([t.verdict for t in self.targets])
