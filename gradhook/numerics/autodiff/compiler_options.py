"""Compile programs with little optimization, so that they are ready soon.

A check runs its programs once, on little data: optimizing their machine code costs more than it saves. Only the effort
changes, not what is computed: ``benchmarks/verdicts.py`` scans the public functions of JAX with these options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import jax

QUICK = 2**16
"""Up to so many numbers in one argument, running unoptimized code costs less than optimizing it."""
_SPARING: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_parallel_codegen_split_count": 1,
    # Gone in JAX 0.12; before, the older emitters need a third of the time of the newer ones.
    "xla_cpu_use_fusion_emitters": False,
}
_THOROUGH: dict[str, Any] = {"xla_backend_optimization_level": 3, "xla_llvm_disable_expensive_passes": False}
"""What JAX's switch takes away."""
_SWITCH = "jax_disable_most_optimizations"


def compiled(program: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The program, compiled for arguments like these."""
    return jax.jit(program).lower(*arguments).compile(compiler_options=_options(arguments))


def _options(arguments: Any) -> dict[str, Any]:
    if not is_large(arguments):
        return _known()
    settings: Any = jax.config
    return _THOROUGH if settings.read(_SWITCH) else {}


@contextmanager
def sparing(size: int = 0) -> Iterator[None]:
    """Operations that run one by one, each of which is a program, are compiled as sparingly; not on large arrays."""
    settings: Any = jax.config
    before = settings.read(_SWITCH)
    settings.update(_SWITCH, before or (size <= QUICK and jax.default_backend() == "cpu"))
    try:
        yield
    finally:
        settings.update(_SWITCH, before)


def is_large(arguments: Any) -> bool:
    """Whether running a program on these arguments costs more than compiling it."""
    return any(getattr(leaf, "size", 1) > QUICK for leaf in jax.tree.leaves(arguments))


@cache
def _known() -> dict[str, Any]:
    """The options that the installed jaxlib has; none on an accelerator, where others count."""
    if jax.default_backend() != "cpu":
        return {}
    return {name: value for name, value in _SPARING.items() if _is_known(name, value)}


def _is_known(name: str, value: Any) -> bool:
    try:
        jax.jit(lambda: 0).lower().compile(compiler_options={name: value})
    except jax.errors.JaxRuntimeError:
        return False
    return True
