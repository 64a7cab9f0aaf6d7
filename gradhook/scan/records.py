"""The records of a scan."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from gradhook.scan.modules import Module


class CallSite(NamedTuple):
    """The place where a call begins: the path as shown, line and column."""

    path: str
    line: int
    column: int


@dataclass(frozen=True)
class Decorator:
    """``"exact"`` or ``"surrogate"``, or the name of one of JAX's custom rules.

    ``site`` is where it was called with its options, ``None`` while it still is the bare decorator.
    """

    kind: str
    site: CallSite | None = None

    @property
    def is_rule(self) -> bool:
        """Whether it makes a custom rule, which claims nothing."""
        return self.kind.startswith("custom_")


NameMeaning = Decorator | str | None
"""The meaning of a name: a decorator, the dotted name of an import, or unknown."""


@dataclass(frozen=True)
class Scope:
    """The names of a module, class or function, filled statement by statement as the import would."""

    kind: str
    module: Module
    parent: Scope | None = None
    values: dict[str, NameMeaning] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    imported: frozenset[str] = frozenset()
    """Of a module: the names that its own import statements bind, wherever they stand."""

    @property
    def outermost(self) -> Scope:
        """The scope of the module."""
        return self if self.parent is None else self.parent.outermost


@dataclass(frozen=True)
class Binding:
    """A name that a scope binds in the ``order``-th statement of the walk."""

    scope: Scope
    name: str
    line: int
    order: int
    branch: tuple[tuple[int, str], ...]
    source: tuple[ast.AST, ...] = ()
    deleted: bool = False

    @property
    def wraps(self) -> bool:
        """Whether the new value mentions the old one, as in ``f = jax.jit(f)``."""
        inside = (inner for node in self.source for inner in ast.walk(node))
        return any(isinstance(inner, ast.Name) and inner.id == self.name for inner in inside)


class Context(NamedTuple):
    """The place of the walk: its scope, statement number, and branch of each enclosing statement.

    ``dead`` says why no import executes this place, ``group`` joins the marks on one function; ``binding`` is the name
    that the value of the expression gets, ``direct`` unless a call stands between that changes the object. A tuple,
    because a new one is made for every statement: replacing a field of a dataclass costs five times as much.
    """

    scope: Scope
    prefix: str = ""
    branch: tuple[tuple[int, str], ...] = ()
    order: int = 0
    dead: str = ""
    class_bindings: tuple[Binding, ...] = ()
    group: int = 0
    binding: Binding | None = None
    direct: bool = True


@dataclass(frozen=True)
class DecoratorUse:
    """One decorator on one function, or one that reaches no function; ``unapplied`` gives the reason."""

    decorator: Decorator
    qualname: str
    subject: str
    line: int
    site: CallSite
    lines: frozenset[int]
    """The lines on which an ignore comment applies to it."""
    context: Context
    imported_name: str = ""
    """The dotted name of the subject, when it is imported."""
    decorates: bool = False
    unapplied: str = ""


@dataclass(frozen=True)
class ModuleScan:
    """All that the walk found in a file."""

    scope: Scope
    uses: list[DecoratorUse] = field(default_factory=list)
    stored: list[DecoratorUse] = field(default_factory=list)
    """Decorators put under a name, to be applied later."""
    rebound: list[Binding] = field(default_factory=list)
    factory_calls: list[tuple[str, str]] = field(default_factory=list)
    """Functions that the module calls at its top level, each with the name that it gives to what is returned."""
    returned: set[tuple[str, str | int]] = field(default_factory=set)
    """What functions return: the prefix of a function's inside, with a name or the line of an annotation's call."""
    shaped: set[str] = field(default_factory=set)
    """The functions whose annotations may say the shapes of all arguments."""
    counter: count[int] = field(default_factory=lambda: count(1))


def new_binding(
    name: str, node: ast.stmt | ast.expr, context: Context, source: Iterable[ast.AST] = (), deleted: bool = False
) -> Binding:
    """A binding that this statement makes; ``source`` are the expressions that give the value."""
    return Binding(context.scope, name, node.lineno, context.order, context.branch, tuple(source), deleted)


def bind(binding: Binding, value: NameMeaning, found: ModuleScan) -> None:
    """Bind the scope's name to ``value``; in one branch of several, a decorator is kept.

    So ``gradcheck`` keeps its meaning in ``try: from gradhook import gradcheck`` with a stand-in under ``except``.
    """
    found.rebound.append(binding)
    values = binding.scope.values
    if isinstance(value, Decorator) or not binding.branch or values.get(binding.name) is None:
        values[binding.name] = value
