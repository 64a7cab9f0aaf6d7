"""The functions of ``speed_project`` through ``jax.test_util.check_grads``, in one process, as its users call it."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
from jax.test_util import check_grads

sys.path.insert(0, str(Path(__file__).parent / "speed_project"))

import functions  # noqa: F401  # the annotations fill the registry

from gradhook.annotations import registered
from gradhook.numerics.drawing import draw, generator

with jax.enable_x64(True):
    for claim in registered():
        random = generator(claim.subject.__name__)
        arguments = tuple(jax.numpy.asarray(draw(spec, random)) for spec in claim.options["args"])
        check_grads(claim.subject, arguments, order=2, modes=("fwd", "rev"), atol=1e-3, rtol=1e-3)
