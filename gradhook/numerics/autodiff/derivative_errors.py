"""Errors in a derivative: a mode that JAX lacks by design, a fault of the rule, an input that must be refused."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any

import jax

from gradhook.comparison.probe import DerivativeError, RaisesResult
from gradhook.model.errors import in_words
from gradhook.model.results import Mode
from gradhook.numerics.case import CheckCase
from gradhook.numerics.function import BoundArguments
from gradhook.numerics.jaxpr.source import Place, users

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


def raises_result(
    function: Callable[..., Any], arguments: BoundArguments, check_case: CheckCase, modes: tuple[Mode, ...]
) -> RaisesResult:
    """The error of an input that must be refused, on every route."""
    error = check_case.error
    assert error is not None
    names = "/".join(e.__name__ for e in (error if isinstance(error, tuple) else (error,)))
    routes: dict[str, str] = {}
    accepted: dict[str, bool] = {}
    for route, call in _routes(function, arguments, modes).items():
        try:
            call()
            routes[route], accepted[route] = "", False
        except Exception as raised:
            fits = isinstance(raised, error) and re.search(check_case.match or "", str(raised)) is not None
            routes[route], accepted[route] = classify(raised).message, fits
    expected = names + (f" matching {check_case.match!r}" if check_case.match else "")
    return RaisesResult(expected, routes, accepted)


def _routes(
    function: Callable[..., Any], arguments: BoundArguments, modes: tuple[Mode, ...]
) -> dict[str, Callable[[], Any]]:
    """The calls that must all refuse a bad input: plain, forward mode, reverse mode."""
    moved = [arguments.leaves[place] for place in arguments.moved]

    def call(moved: list[Any]) -> Any:
        args, kwargs = arguments.rebuild(moved)
        return function(*args, **kwargs)

    routes: dict[str, Callable[[], Any]] = {"called plainly": lambda: call(moved)}
    if "fwd" in modes:
        routes["under forward mode"] = lambda: jax.jvp(call, (moved,), (moved,))
    if "rev" in modes:
        routes["under reverse mode"] = lambda: jax.vjp(call, moved)
    return routes
