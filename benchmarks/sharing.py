"""How do the cases of one function share compiled programs?

Every case of a scan has the same shapes, so one set of programs serves them all; compiling is what a scan costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from gradhook.numerics import studies
from gradhook.numerics.programs import Programs

_family: dict[str, Any] | None = None


@dataclass
class Shared(Programs):
    """Programs of a function held at some point, which serve every other point of the same shapes."""

    def _compile(self, name: str, program: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
        if _family is None or not self.traceable:
            return super()._compile(name, program, arguments)
        key = f"{name} {self.path} {jax.tree.map(np.shape, arguments)}"
        if key not in _family:
            _family[key] = super()._compile(name, program, arguments)
        compiled: Callable[..., Any] = _family[key]
        return compiled


@contextmanager
def shared_programs(family: dict[str, Any] | None = None) -> Iterator[None]:
    """Within, all examinations are of one function, whose arguments are all differentiated."""
    global _family
    before, original = _family, studies.Programs
    _family, studies.Programs = {} if family is None else family, Shared
    try:
        yield
    finally:
        _family, studies.Programs = before, original
