"""Does a derivative raise because JAX has none of this mode for the function, or because something is wrong with it?"""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import jax

from gradhook.comparison.probe import Fault

# What JAX 0.8 to 0.12 says where a mode does not exist by design. Anything else that a derivative raises is a fault.
_MISSING = {
    r"can't apply forward-mode (differentiation|autodiff) \(jvp\) to a custom_vjp": "custom_vjp has no forward rule",
    r"Reverse-mode differentiation does not work for lax\.(while_loop|fori_loop)": "a while_loop has no reverse rule",
    r"(Pure|IO) callbacks do not support JVP": "a callback has no derivative rule",
    r"Batching rule for '[^']*' not implemented": "a primitive has no batching rule",
    r"Differentiation rule for '[^']*' not implemented": "a primitive has no derivative rule",
    r"Transpose rule \(for reverse-mode differentiation\) for .* not implemented": "a primitive has no reverse rule",
    r"Forward-mode differentiation rule for '[^']*' not implemented": "a primitive has no forward rule",
    r"Derivatives of non-symmetric eigenvectors are only valid": "JAX has no second derivative of eigenvalues",
    r"Linearization failed": "it cannot be linearized, as a batching rule has no reverse mode",
}
_LONGEST = 300


def translate(error: BaseException) -> Fault:
    """What an exception out of a derivative means."""
    text = str(error)
    for pattern, reason in _MISSING.items():
        if re.search(pattern, text):
            return Fault(True, reason)
    path, line = users_frame(error)
    first = next((part for part in text.strip().splitlines() if part.strip()), "")[:_LONGEST]
    return Fault(False, f"{type(error).__name__}: {first}" if first else type(error).__name__, path, line)


def users_frame(error: BaseException) -> tuple[str, int]:
    """The last frame that is neither JAX's nor ours, (path, line); ("", 0) where there is none."""
    ours = (str(Path(jax.__file__).parent), str(Path(__file__).parents[2]))
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith((*ours, "<"))]
    return (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)
