"""Call a function on an input that it must refuse, with and without differentiation."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax

from gradhook.comparison.probe import RaisesResult
from gradhook.model.results import Mode
from gradhook.numerics.autodiff.derivative_errors import classify
from gradhook.numerics.case import CheckCase
from gradhook.numerics.function import BoundArguments


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
