"""The settings, and the values that each of them takes.

One table drives all: the key in ``[tool.gradhook]``, the option of the command line and the environment variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from gradhook.model.results import RTOL

DEFAULT = "default"
"""In a setting with a level for each code: the one of all codes that are not named."""


@dataclass(frozen=True)
class Settings:
    """What a run of gradhook depends on besides the files; the defaults stand here."""

    order: int = 1
    modes: tuple[str, ...] | None = None
    atol: float = 0.0
    rtol: float = RTOL
    seed: int = 0
    timeout: float = 60.0
    max_memory: float = 0.0
    python: str | None = None
    platform: str = "cpu"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    undecided: str = "error"
    advice: Mapping[str, str] = field(default_factory=lambda: {DEFAULT: "warn"})
    unclaimed: str = "warn"
    weakened: str = "warn"
    output_format: str = "terminal"
    self_test: bool = False
    curves: bool = False
    jobs: int | str = "auto"
    max_seconds: float | None = None
    slow: bool = True
    fail_on_empty: bool = False
    exit_zero: bool = False
    cache: bool = True


@dataclass(frozen=True)
class Option:
    """One setting: its values (``kind`` and its bounds), and their description for users."""

    key: str
    kind: str
    expects: str
    help: str
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = float("inf")
    short: str = ""
    """The option's one-letter name."""

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return "--" + self.toml

    @property
    def toml(self) -> str:
        """The key in ``[tool.gradhook]``."""
        return self.key.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable."""
        return "GRADHOOK_" + self.key.upper()

    @property
    def default(self) -> Any:
        """The value without a file, a variable and an option."""
        return getattr(Settings(), self.key)


def level_of(code: str, levels: Mapping[str, str]) -> str:
    """The level of a code: that of the longest beginning of it which is named, else that of all."""
    named = [name for name in levels if name != DEFAULT and code.startswith(name)]
    return levels[max(named, key=len, default=DEFAULT)]


def _choice(key: str, choices: tuple[str, ...], help: str, aside: str = "") -> Option:
    return Option(key, "choice", "one of " + ", ".join(choices) + aside, help, choices)


FORMATS = ("terminal", "concise", "json", "junit", "sarif", "github", "gitlab", "markdown")
"""What a report can be written as on standard output."""
_CODES = "rule codes or their beginnings, such as GRD101 or GRD1"
_NO_NEGATIVE = "a number from 0 up"
_WEEK = 7 * 24 * 3600.0

OPTIONS: tuple[Option, ...] = (
    Option("order", "whole", "1 or 2", "Up to which order derivatives are checked.", low=1, high=2),
    Option(
        "modes", "words", "fwd, rev or both", "Modes that must work; by default those a function has.", ("fwd", "rev")
    ),
    Option("atol", "number", _NO_NEGATIVE, "Absolute tolerance for each element."),
    Option("rtol", "number", _NO_NEGATIVE, "Relative tolerance for each element."),
    Option(
        "seed",
        "whole",
        "a whole number from 0 to 4294967295",
        "Seed of drawn inputs and directions, or random.",
        high=2**32 - 1,
    ),
    Option(
        "timeout", "number", "seconds from 0.1 to 604800", "Seconds that each target may take.", low=0.1, high=_WEEK
    ),
    Option("max_memory", "number", "megabytes from 0 up", "Megabytes of memory for the checked code; 0: no limit."),
    Option("python", "text", "the path or name of an interpreter", "The project's interpreter, which has JAX."),
    Option("platform", "text", "a JAX platform, such as cpu or gpu", "Where JAX computes."),
    Option("select", "codes", _CODES, "Ask only these rules."),
    Option("ignore", "codes", _CODES, "Only count the findings of these rules."),
    Option(
        "per_file_ignores",
        "globs",
        "path patterns with rule codes, such as tests/*:GRD406",
        "Only count the findings of these rules in these files.",
    ),
    Option("exclude", "words", "path patterns", "Files and folders to leave out, relative to the project."),
    _choice("undecided", ("error", "warn"), "Whether an undecided target counts as a finding."),
    Option(
        "advice",
        "levels",
        "one of warn, error, ignore, or such a level for each code: GRD204:error",
        "What counts as advice, that lies beyond a claim, for all codes and for single ones.",
        ("warn", "error", "ignore"),
    ),
    _choice("unclaimed", ("warn", "error", "ignore"), "What a custom rule without a claim counts as."),
    _choice("weakened", ("warn", "error", "ignore"), "What a claim counts as that is weaker than at --against."),
    _choice(
        "output_format",
        FORMATS,
        "How the report is written; html goes to a file: --report html=PATH.",
        " (html goes to a file: --report html=PATH)",
    ),
    Option("self_test", "switch", "true or false", "Also prove that wrong derivatives would have failed."),
    Option("curves", "switch", "true or false", "Also report the numbers that pictures are drawn from."),
    Option("jobs", "count", "a whole number from 1 to 256, or auto", "Worker processes at once.", high=256, short="-j"),
    Option(
        "max_seconds",
        "number",
        "seconds from 0 to 604800",
        "Begin no target after this time; what is left out is said.",
        high=_WEEK,
    ),
    Option("slow", "switch", "true or false", "Also check targets that are marked slow=True (the default)."),
    Option("fail_on_empty", "switch", "true or false", "Exit with 2 when nothing is annotated."),
    Option("exit_zero", "switch", "true or false", "Exit with 0 in spite of findings."),
    Option("cache", "switch", "true or false", "Do not check again what is unchanged; off in CI."),
)
BY_KEY = {option.key: option for option in OPTIONS}

if tuple(f.name for f in fields(Settings)) != tuple(BY_KEY):
    raise AssertionError("the table of options and the record of settings name different things")
