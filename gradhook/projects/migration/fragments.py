"""The records that lead from a call in a test to a claim."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Status(StrEnum):
    """The outcome of a translation."""

    TRANSLATED = "translated"
    BY_HAND = "by hand"
    LEFT_ALONE = "left alone"


@dataclass(frozen=True)
class TestFile:
    """A file of tests."""

    name: str
    text: str
    tree: ast.Module

    @cached_property
    def lines(self) -> list[str]:
        """The lines as the parser counts them: a form feed ends no line."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@dataclass(frozen=True)
class Call:
    """A gradient check with the nodes around it, outermost (the module) first.

    ``kind`` is one of the four names; ``foreign``, if set, is the reason why the call is none of JAX's or chex's.
    """

    node: ast.expr
    kind: str
    around: tuple[ast.AST, ...]
    foreign: str = ""

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions around the call, outermost first."""
        return tuple(node for node in self.around if isinstance(node, Function))

    @property
    def title(self) -> str:
        """The names of the test that contains the call."""
        named = (n.name for n in self.around if isinstance(n, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)))
        return ".".join(named) or "module"


@dataclass(frozen=True)
class Fragments:
    """The statements that an expression depends on, in the order of the file."""

    local: tuple[ast.stmt, ...] = ()
    """Statements of the functions around it."""
    shared: tuple[ast.stmt, ...] = ()
    """Statements of the module."""
    imports: tuple[str, ...] = ()


@dataclass(frozen=True)
class Translation:
    """The translation of a call: code or a suggestion, and notes for the reader."""

    line: int
    title: str
    status: Status
    reason: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()
    shared: tuple[ast.stmt, ...] = field(default=(), repr=False)
    imports: tuple[str, ...] = ()


class CannotMigrate(Exception):
    """The reason why a call cannot be translated from its text alone."""
