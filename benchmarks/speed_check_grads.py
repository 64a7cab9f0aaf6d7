"""The functions of a project through JAX itself, in one process, as its users call it.

    python benchmarks/speed_check_grads.py check_grads|floor FOLDER [NAME]

``check_grads``: ``jax.test_util.check_grads`` at order 2 in both modes. ``floor``: value, jvp and vjp of each function
compiled and run once, what any checker of derivatives has to do at least.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import jax
from jax.test_util import check_grads

from gradhook.annotations import registered
from gradhook.annotations.inputs import Spec
from gradhook.numerics.sampling import generator, sample


def main(what: str, folder: Path, name: str | None) -> None:
    """Treat every annotated function of the files in ``folder``, or the one called ``name``."""
    sys.path.insert(0, str(folder))
    for file in sorted(folder.glob("*.py")):
        importlib.import_module(file.stem)
    with jax.enable_x64(True):
        for claim in registered():
            if name in (None, claim.subject.__name__):
                _TREATMENTS[what](claim.subject, _arguments(claim))


def _arguments(claim: Any) -> tuple[Any, ...]:
    random = generator(claim.subject.__name__)
    drawn = jax.tree.map(
        lambda leaf: jax.numpy.asarray(sample(leaf, random)),
        claim.options["args"],
        is_leaf=lambda x: isinstance(x, Spec),
    )
    return tuple(drawn)


def _check_grads(function: Any, arguments: tuple[Any, ...]) -> None:
    check_grads(function, arguments, order=2, modes=("fwd", "rev"), atol=1e-3, rtol=1e-3)


def _floor(function: Any, arguments: tuple[Any, ...]) -> None:
    value = jax.jit(function)(*arguments)
    forward = jax.jit(lambda *x: jax.jvp(function, x, x)[1])(*arguments)
    reverse = jax.jit(lambda *x: jax.vjp(function, *x)[1](value))(*arguments)
    jax.block_until_ready((value, forward, reverse))


_TREATMENTS = {"check_grads": _check_grads, "floor": _floor}

if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
