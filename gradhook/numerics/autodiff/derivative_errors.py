"""Distinguish AD modes that JAX lacks for a function by design from errors in a derivative."""

from __future__ import annotations

import re
import traceback

from gradhook.comparison.probe import DerivativeError
from gradhook.model.errors import in_words
from gradhook.numerics.jaxpr.frames import Place, users

# Messages of JAX 0.8 to 0.12 where a mode does not exist by design. Any other error of a derivative is a fault.
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


def classify(error: BaseException) -> DerivativeError:
    """The error of a derivative as a record: missing by design, or an exception and its place."""
    text = str(error)
    for pattern, reason in _MISSING.items():
        if re.search(pattern, text):
            return DerivativeError(True, reason)
    return DerivativeError(False, in_words(error), *users_frame(error))


def users_frame(error: BaseException) -> Place:
    """The user's last frame, else the last of another library; ("", 0) where there is none."""
    return users((frame.filename, frame.lineno or 0) for frame in reversed(traceback.extract_tb(error.__traceback__)))
