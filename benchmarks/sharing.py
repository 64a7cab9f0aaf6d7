"""Share compiled programs between the points of one function.

Every point of a function has the same shapes, so one set of programs serves them all; compiling is what a scan costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from gradhook.numerics.autodiff import derivatives
from gradhook.numerics.autodiff.programs import Programs

Family = dict[str, Any]
"""Compiled programs of one function, by what they compute and for which shapes."""
_current: Family = {}


@dataclass
class Shared(Programs):
    """Programs of a function held at some point, which serve every other point of the same shapes."""

    def _compile(self, name: str, program: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
        if not self.traceable:
            return super()._compile(name, program, arguments)
        key = f"{name} {self.path} {jax.tree.map(np.shape, arguments)}"
        return kept(key, lambda: super(Shared, self)._compile(name, program, arguments))


def kept(key: str, compile: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """The program of the current family under ``key``, compiled at its first use."""
    if key not in _current:
        _current[key] = compile()
    program: Callable[..., Any] = _current[key]
    return program


@contextmanager
def sharing(family: Family) -> Iterator[None]:
    """Within, all probes are of one function, whose arguments are all differentiated."""
    global _current
    before, original = _current, derivatives.Programs
    _current, derivatives.Programs = family, Shared
    try:
        yield
    finally:
        _current, derivatives.Programs = before, original
