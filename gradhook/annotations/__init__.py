"""The decorators that state claims, and the registry of executed claims.

Both decorators return the object that they were given: at run time nothing changes. Standard library only.
"""

from __future__ import annotations

import sys
from collections import namedtuple

TYPE_CHECKING = False  # typing's own constant would cost an import of typing
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar, overload

    F = TypeVar("F")

ATTRIBUTE = "__gradhook__"


class Case(namedtuple("Case", ("args", "kwargs", "value", "derivative", "tangent", "kink"))):
    """Inputs with a name, and what is known there; made by ``case``."""

    __slots__ = ()


class Raises(namedtuple("Raises", ("error", "args", "kwargs", "match"))):
    """Inputs that must be refused, with and without differentiation; made by ``raises``."""

    __slots__ = ()


class Claim(namedtuple("Claim", ("kind", "subject", "options", "path", "line"))):
    """A claim as it was executed: its kind (``"exact"``, ``"surrogate"``), its object, and where.

    ``options`` maps the options that were given to their values, which the checker validates.
    """

    __slots__ = ()


_registry: list[Claim] = []


def registered() -> tuple[Claim, ...]:
    """Every claim executed in this process so far, in order."""
    return tuple(_registry)


def case(
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    value: Any = None,
    derivative: Any = None,
    tangent: Any = None,
    kink: str | float | None = None,
) -> Case:
    """Name inputs and what is known there.

    Args:
        args: positional arguments of the function, as in ``gradcheck(args=…)``.
        kwargs: keyword arguments of the function.
        value: what the function must return.
        derivative: the derivative (gradient or Jacobian with respect to the differentiated arguments).
        tangent: the tangent that the declared rule must give for a tangent of ones (surrogates).
        kink: the convention at a non-smooth point: ``"left"``, ``"right"``, ``"mean"``, ``"subgradient"`` or a number.
    """
    return Case(args, kwargs or {}, value, derivative, tangent, kink)


def raises(
    error: type[BaseException] | tuple[type[BaseException], ...],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    match: str | None = None,
) -> Raises:
    """Inputs that the function must refuse with ``error``, whose text matches the regex ``match``."""
    return Raises(error, args, kwargs or {}, match)


def _record_claim(kind: str, options: dict[str, Any], path: str, line: int) -> Callable[[F], F]:
    def mark(function: F) -> F:
        claim = Claim(kind, function, {name: value for name, value in options.items() if value is not None}, path, line)
        _registry.append(claim)
        try:
            setattr(function, ATTRIBUTE, (*getattr(function, ATTRIBUTE, ()), claim))
        except (AttributeError, TypeError):
            pass  # built-in and slotted callables take no attributes; the registry holds them all the same
        return function

    return mark


if TYPE_CHECKING:

    @overload
    def gradcheck(function: F, /) -> F: ...
    @overload
    def gradcheck(
        *,
        args: Any = None,
        kwargs: Any = None,
        order: int | None = None,
        modes: Sequence[str] | None = None,
        atol: float | None = None,
        rtol: float | None = None,
        eps: float | None = None,
        wrt: int | str | Sequence[int | str] | None = None,
        cases: Mapping[str, Any] | None = None,
        exact: Any = None,
        stop_gradient: str | None = None,
        kink: str | float | None = None,
        ignore: Sequence[str] | None = None,
        depends_on: str | Sequence[str] | None = None,
        domain: Mapping[str, str | tuple[float, float]] | None = None,
        slow: bool | None = None,
        dtypes: Sequence[Any] | None = None,
        shapes: str | None = None,
    ) -> Callable[[F], F]: ...


def gradcheck(
    function: Any = None,
    /,
    *,
    args: Any = None,
    kwargs: Any = None,
    order: int | None = None,
    modes: Sequence[str] | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    wrt: Any = None,
    cases: Mapping[str, Any] | None = None,
    exact: Any = None,
    stop_gradient: str | None = None,
    kink: str | float | None = None,
    ignore: Sequence[str] | None = None,
    depends_on: str | Sequence[str] | None = None,
    domain: Mapping[str, str | tuple[float, float]] | None = None,
    slow: bool | None = None,
    dtypes: Sequence[Any] | None = None,
    shapes: str | None = None,
) -> Any:
    """Claim that JAX's derivative of the decorated function is its derivative.

    ``order``, ``modes``, ``atol``, ``rtol`` and ``eps`` mean what they mean in ``jax.test_util.check_grads``, except
    that a tolerance holds for each element and is never multiplied by the array's size.

    Args:
        args: a tuple of numbers, arrays, pytrees, input specs or ``jax.ShapeDtypeStruct``, or a function of no
            arguments that returns one; without it, what the parameters' jaxtyping annotations describe.
        kwargs: the same for keyword arguments.
        order: up to which order derivatives are checked (default 1).
        modes: ``("fwd", "rev")`` or one of them; by default those that the function has.
        atol: absolute tolerance for each element.
        rtol: relative tolerance for each element.
        eps: use plain central differences with this step instead of error-controlled Richardson extrapolation.
        wrt: which arguments are differentiated, by position or name; by default every floating one.
        cases: name to tuple, ``case(…)`` or ``raises(…)``.
        exact: a function of the same arguments that returns the derivative, given independently.
        stop_gradient: ``"frozen"``: values under ``jax.lax.stop_gradient`` are meant to be constants.
        kink: the convention at non-smooth points: ``"left"``, ``"right"``, ``"mean"``, ``"subgradient"`` or a number.
        ignore: codes of findings that the report only counts, ``("GRD406",)``.
        depends_on: data files that the function reads, paths or globs relative to the file that this stands in: when
            one of them changes, a pass is not taken from the cache.
        domain: where what is drawn for an argument lies: its name to ``"positive"``, ``"unit"``, ``"simplex"``,
            ``"spd"``, ``"orthogonal"`` or ``(low, high)``.
        slow: ``True``: ``gradhook check --no-slow`` leaves it out, and reports that.
        dtypes: where the function is a custom rule: the dtypes in which it is claimed to work, such as
            ``("float32", "bfloat16")``; float32 and float64 are part of every claim.
        shapes: ``"any"``: a custom rule is claimed to work at rank 0 and size 0 as well.

    """
    frame = sys._getframe(1)
    options = {
        "args": args, "kwargs": kwargs, "order": order, "modes": modes, "atol": atol, "rtol": rtol, "eps": eps,
        "wrt": wrt, "cases": cases, "exact": exact, "stop_gradient": stop_gradient, "kink": kink,
        "ignore": ignore, "depends_on": depends_on, "domain": domain, "slow": slow,
        "dtypes": dtypes, "shapes": shapes,
    }  # fmt: skip
    mark: Callable[[Any], Any] = _record_claim("exact", options, frame.f_code.co_filename, frame.f_lineno)
    return mark if function is None else mark(function)


def surrogate(
    *,
    forward: Callable[..., Any] | None = None,
    derivative_of: Callable[..., Any] | None = None,
    rule: Callable[..., Any] | None = None,
    args: Any = None,
    kwargs: Any = None,
    modes: Sequence[str] | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    wrt: int | str | Sequence[int | str] | None = None,
    cases: Mapping[str, Any] | None = None,
    order2: str | None = None,
    ties: str | None = None,
    bounds: str | None = None,
    exact: str | int | Sequence[int | str] | None = None,
    ignore: Sequence[str] | None = None,
    depends_on: str | Sequence[str] | None = None,
    domain: Mapping[str, str | tuple[float, float]] | None = None,
    slow: bool | None = None,
    dtypes: Sequence[Any] | None = None,
    shapes: str | None = None,
) -> Callable[[F], F]:
    """Declare a surrogate: the value of ``forward``, on purpose with the derivative of something else.

    Args:
        forward: the function whose value the decorated one must have, bit for bit.
        derivative_of: a differentiable function whose exact derivative the rule must give; or
        rule: ``(primals, tangents) -> tangent``, the declared rule itself.
        args: as in ``gradcheck``; so are ``kwargs``, ``modes``, ``atol``, ``rtol``, ``wrt``, ``cases``, ``domain``,
            ``ignore``, ``depends_on``, ``slow``, ``dtypes`` and ``shapes``.
        order2: what a second derivative gives: ``"zero"``, ``"of the surrogate"`` or ``"error"``.
        ties: how halves are rounded: ``"even"``, ``"away"`` (from zero), ``"up"`` (``floor(x + 0.5)``) or ``"down"``.
        bounds: whether the bounds of a saturating derivative still pass it: ``"closed"`` or ``"open"``; where
            ``derivative_of`` itself has a kink, either is accepted without it.
        exact: arguments, by position or name, in which the derivative is claimed to be the function's own; finite
            differences are the judge there, and the declaration is about the others only.
    """
    frame = sys._getframe(1)
    options = {
        "forward": forward, "derivative_of": derivative_of, "rule": rule, "args": args, "kwargs": kwargs,
        "modes": modes, "atol": atol, "rtol": rtol, "wrt": wrt, "cases": cases, "order2": order2, "ties": ties,
        "bounds": bounds, "exact": exact, "ignore": ignore, "depends_on": depends_on, "domain": domain,
        "slow": slow, "dtypes": dtypes, "shapes": shapes,
    }  # fmt: skip
    return _record_claim("surrogate", options, frame.f_code.co_filename, frame.f_lineno)
