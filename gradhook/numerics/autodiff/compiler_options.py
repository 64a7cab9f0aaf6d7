"""Compile programs with little optimization, so that they are ready soon.

A check runs its programs once, on little data: optimizing their machine code costs more than it saves. Only the effort
changes, not what is computed: ``benchmarks/verdicts.py`` scans the public functions of JAX with these options.
"""

from __future__ import annotations

from collections.abc import Callable
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


def compiled(program: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The program, compiled for arguments like these."""
    lowered = jax.jit(program).lower(*arguments)
    return lowered.compile() if is_large(arguments) else lowered.compile(compiler_options=_known())


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
