"""What does the walk over a file remember?"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from gradhook.scan.modules import Module


class Place(NamedTuple):
    """Where a call begins: the path as shown, line and column."""

    path: str
    line: int
    column: int


@dataclass(frozen=True)
class Mark:
    """What marks a function: ``"exact"`` or ``"surrogate"``, or the name of one of JAX's custom rules.

    ``made`` is where it was called with its options, ``None`` while it still is the bare decorator.
    """

    kind: str
    made: Place | None = None

    @property
    def is_rule(self) -> bool:
        """Whether it makes a custom rule, and claims nothing."""
        return self.kind.startswith("custom_")


Value = Mark | str | None
"""What the text of a file tells about a name: a mark, the dotted name of something imported, or nothing."""


@dataclass(frozen=True)
class Scope:
    """The names of a module, class or function, filled statement by statement as the import would."""

    kind: str
    module: Module
    parent: Scope | None = None
    values: dict[str, Value] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    imported: frozenset[str] = frozenset()
    """Of a module: the names that its own import statements bind, wherever they stand."""

    @property
    def outermost(self) -> Scope:
        """The scope of the module."""
        return self if self.parent is None else self.parent.outermost


@dataclass(frozen=True)
class Bound:
    """A name that a scope gives to something, in the ``order``-th statement of the walk."""

    scope: Scope
    name: str
    line: int
    order: int
    branch: tuple[tuple[int, str], ...]
    source: tuple[ast.AST, ...] = ()
    deleted: bool = False

    @property
    def wraps(self) -> bool:
        """The new value mentions the old one, as in ``f = jax.jit(f)``: the function is still behind the name."""
        inside = (inner for node in self.source for inner in ast.walk(node))
        return any(isinstance(inner, ast.Name) and inner.id == self.name for inner in inside)


class At(NamedTuple):
    """Where the walk is: in the ``order``-th statement, in one branch of each compound statement around it.

    ``dead`` says why no import executes this place, ``group`` joins the marks on one function; ``own`` is the name
    that the value of the expression gets, ``direct`` unless a call stands between that changes the object. A tuple,
    because a new one is made for every statement: replacing a field of a dataclass costs five times as much.
    """

    scope: Scope
    prefix: str = ""
    branch: tuple[tuple[int, str], ...] = ()
    order: int = 0
    dead: str = ""
    bounds: tuple[Bound, ...] = ()
    group: int = 0
    own: Bound | None = None
    direct: bool = True


@dataclass(frozen=True)
class Use:
    """One mark on one function, or one that never comes to a function as far as the text tells (``lost`` says why)."""

    mark: Mark
    qualname: str
    subject: str
    line: int
    made: Place
    lines: frozenset[int]
    """Where a comment may silence what is said about it."""
    at: At
    means: str = ""
    """The dotted name of the subject, when it is imported."""
    decorates: bool = False
    lost: str = ""


@dataclass(frozen=True)
class Found:
    """All that the walk found in a file."""

    scope: Scope
    uses: list[Use] = field(default_factory=list)
    stored: list[Use] = field(default_factory=list)
    """Decorators put under a name, to be applied later."""
    rebound: list[Bound] = field(default_factory=list)
    products: list[tuple[str, str]] = field(default_factory=list)
    """Functions that the module calls at its top level, each with the name that it gives to what is returned."""
    returned: set[tuple[str, str | int]] = field(default_factory=set)
    """What functions return: the prefix of a function's inside, with a name or the line of an annotation's call."""
    shaped: set[str] = field(default_factory=set)
    """The functions whose annotations may say the shapes of all arguments."""
    clock: count[int] = field(default_factory=lambda: count(1))


def bound(name: str, node: ast.stmt | ast.expr, at: At, source: Iterable[ast.AST] = (), deleted: bool = False) -> Bound:
    """A name about to be bound by this statement, to what ``source`` gives."""
    return Bound(at.scope, name, node.lineno, at.order, at.branch, tuple(source), deleted)


def bind(own: Bound, value: Value, found: Found) -> None:
    """Let the scope's name mean ``value``; in one branch of several a mark is not forgotten for something else.

    So ``gradcheck`` keeps its meaning in ``try: from gradhook import gradcheck`` with a stand-in under ``except``.
    """
    found.rebound.append(own)
    values = own.scope.values
    if isinstance(value, Mark) or not own.branch or values.get(own.name) is None:
        values[own.name] = value
