"""What does a check see of a function held at a case?

Checks are handed a ``Probe`` and read arrays from it; they never call JAX. The numeric side implements it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from gradhook.judge import Array, Estimate, Tolerance
from gradhook.model import Mode


@dataclass(frozen=True)
class Label:
    """The name of one real number in a tree: ``params['w'][0, 2]``, with ``.imag`` for the second half of a complex one."""

    leaf: str
    index: tuple[int, ...] = ()
    part: str = ""

    def __str__(self) -> str:
        index = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        return f"{self.leaf}{index}{self.part}"


@dataclass(frozen=True)
class Fault:
    """Why a derivative could not be had: ``missing`` if JAX has no such mode for the function, else an exception."""

    missing: bool
    message: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True)
class Study:
    """One function R^n -> R^m along D directions: what finite differences measure and what each mode claims.

    ``measured`` is an estimate of shape (D, m + r): the m outputs, then r fixed combinations of them (``weights``
    (r, m)) where the outputs are too many to be pulled back one by one; then reverse mode is compared on those.
    ``claims[mode]`` has the shape (D, m) for ``fwd``; for ``rev`` (D, r), or (D, m) where r is 0.
    """

    path: tuple[Mode, ...]
    seeds: tuple[Array, ...]
    directions: Array
    input_labels: tuple[Label, ...]
    output_labels: tuple[Label, ...]
    weights: Array
    measured: Estimate
    claims: Mapping[Mode, Array | Fault]

    @property
    def order(self) -> int:
        """1 for the function itself, 2 for a first derivative of it, and so on."""
        return len(self.path) + 1

    def columns(self, mode: Mode) -> slice:
        """The columns of ``measured`` that the claims of a mode speak of."""
        outputs = len(self.output_labels)
        return slice(outputs, None) if mode == "rev" and len(self.weights) else slice(0, outputs)


@dataclass(frozen=True)
class Known:
    """What the author gave independently, flattened: a value (m,), a Jacobian (m, n); None where nothing was given."""

    value: Array | None = None
    jacobian: Array | None = None


@dataclass(frozen=True)
class Refusal:
    """What happened to an input that must be refused: exception per route (``""`` where none was raised)."""

    expected: str
    routes: Mapping[str, str]
    accepted: Mapping[str, bool]


@dataclass(frozen=True)
class Contract:
    """What a surrogate is held to: its value and its claims beside the declared ones, flattened.

    ``values`` maps a route (``under jit``, …) to the value there (m,). ``declared`` is (D, m), nan where nothing was
    declared; ``claims`` and ``weights`` are those of ``Study``.
    """

    reference: Array | None
    values: Mapping[str, Array]
    declared: Array
    weights: Array
    claims: Mapping[Mode, Array | Fault]
    directions: Array
    input_labels: tuple[Label, ...]
    output_labels: tuple[Label, ...]


class Probe(Protocol):
    """A function held at a case, with instruments."""

    @property
    def case(self) -> str: ...
    @property
    def order(self) -> int: ...
    @property
    def modes(self) -> tuple[Mode, ...] | None:
        """The modes that the author claims; None: those that the function has."""

    @property
    def tolerance(self) -> Tolerance: ...
    @property
    def kink(self) -> str | float | None: ...
    def study(self, path: tuple[Mode, ...] = ()) -> Study | Fault:
        """The function (empty path) or the derivative reached by a path of modes."""

    def known(self) -> Known: ...
    def gradient_dtypes(self) -> list[tuple[Label, str, str]]:
        """For each differentiated leaf, its dtype and that of its gradient."""

    def narrowings(self) -> list[tuple[str, str, int]]:
        """Equations that narrow a float below 64 bits: what, file, line."""

    def refusal(self) -> Refusal | None: ...
    def contract(self) -> Contract | None: ...
