"""Walk, rewrite and run jaxprs, and find an equation's place in the user's code.

The one place that knows what jaxprs look like inside: equations, their parameters, their tracebacks. Tested on JAX
0.8.0, 0.10.2 and 0.12.0, there also with ``jax_custom_jvp3``. What differs: since 0.12 a closed jaxpr is a jaxpr (its
``jaxpr`` is itself) and ``scan`` counts its arguments in ``ft_in``; with ``jax_custom_jvp3`` a ``custom_jvp`` is a
``call_hi_primitive`` that keeps its code in ``_prim.traced``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import jax
from jax.extend.core import jaxpr_as_fun

from gradhook.numerics.jaxpr.source import CUSTOM_GRADIENT, users
from gradhook.numerics.jaxpr.source import Place as Place
from gradhook.numerics.jaxpr.source import of_jax as of_jax

RULES = ("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr", "call_hi_primitive")
CALLS = ("jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint", *RULES, "custom_lin")
"""Equations that run the one jaxpr inside on their own inputs."""
STOP = "stop_gradient"
_WRAPPERS = {
    (CUSTOM_GRADIENT.replace("\\", "/"), "wrapped_fun"),
    ("equinox/_ad.py", "fn_wrapped"),
    ("equinox/_ad.py", "fn_wrapper"),
}
"""What ``custom_gradient`` and equinox's filtered rules put around the user's function: the end of a file, a name."""

Rewrite = Callable[[Any], Any]
"""What an equation becomes: another one, or itself."""


def open_jaxpr(jaxpr: Any) -> Any:
    """The jaxpr with equations and variables, of a closed one or of itself."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def constants(jaxpr: Any) -> list[Any]:
    """The values of ``constvars``; an open jaxpr has none."""
    return list(getattr(jaxpr, "consts", ()))


def inner(equation: Any) -> Iterator[Any]:
    """The jaxprs inside an equation."""
    for parameter in equation.params.values():
        for part in parameter if isinstance(parameter, (tuple, list)) else (parameter,):
            if hasattr(open_jaxpr(part), "eqns"):
                yield part


def equations(jaxpr: Any) -> Iterator[Any]:
    """Every equation of a (closed) jaxpr and of the jaxprs inside it, in order."""
    return (equation for equation, _ in equations_with_source(jaxpr))


def equations_with_source(jaxpr: Any, around: Place = ("", 0)) -> Iterator[tuple[Any, Place]]:
    """Every equation as by ``equations``, with its place."""
    for equation in open_jaxpr(jaxpr).eqns:
        here = place_in(jaxpr, equation, around)
        yield equation, here
        hidden = [] if list(inner(equation)) else [code for code in (primal_code(equation),) if code is not None]
        for part in (*inner(equation), *hidden):
            yield from equations_with_source(part, here)


def place(equation: Any) -> Place:
    """The file and line of an equation, the user's before a library's; ("", 0) where none is recorded."""
    traceback = getattr(equation.source_info, "traceback", None)
    frames = traceback.frames if traceback is not None else ()
    return users((frame.file_name, int(frame.line_num)) for frame in frames)


def place_in(jaxpr: Any, equation: Any, around: Place) -> Place:
    """The place of an equation of ``jaxpr``, which is called at ``around``.

    A function that JAX jits is traced once for all its callers, so its equations may name the file of another one; and
    inside a jit the stack begins at the jit, so a library's equations know of the user's code by their call alone.
    """
    own = ("", 0) if around[0] and of_jax(definition(jaxpr)[1]) else place(equation)
    return users((own, around))


def primal_code(equation: Any) -> Any | None:
    """The closed jaxpr of the undecorated function under a custom rule; None for every other equation."""
    if equation.primitive.name not in RULES:
        return None
    params = equation.params
    if "_prim" in params:
        return getattr(getattr(params["_prim"], "traced", None), "jaxpr", None)
    found = [params[key] for key in ("call_jaxpr", "fun_jaxpr") if key in params]
    return found[0] if found else None


def rule_kind(equation: Any) -> str:
    """``custom_jvp`` or ``custom_vjp``."""
    return "custom_vjp" if equation.primitive.name.startswith("custom_vjp") else "custom_jvp"


def definition(jaxpr: Any) -> tuple[str, str, int]:
    """Name, file and line of the function that a jaxpr was traced from; empty where that is not recorded."""
    text = getattr(getattr(open_jaxpr(jaxpr), "debug_info", None), "func_src_info", None) or ""
    name, _, where = text.rpartition(" at ")
    path, _, line = where.rpartition(":")
    own = (name, path, int(line)) if line.isdigit() else (text, "", 0)
    if not _wraps(path, name) and path != CUSTOM_GRADIENT:
        return own
    return _wrapped(jaxpr) or (("custom_gradient", "", 0) if of_jax(path) else own)


def _wraps(path: str, name: str) -> bool:
    """Whether a function stands around the one that a custom rule was put on."""
    path = path.replace("\\", "/")
    return any(path.endswith(end) and name.endswith(last) for end, last in _WRAPPERS)


def _wrapped(jaxpr: Any) -> tuple[str, str, int] | None:
    """The function that a wrapper called, as the first equation inside remembers."""
    for equation in open_jaxpr(jaxpr).eqns:
        traceback = getattr(equation.source_info, "traceback", None)
        for inside, frame in pairwise(traceback.frames if traceback is not None else ()):
            if _wraps(frame.file_name, frame.function_name):
                return inside.function_name.rpartition(".")[2], inside.file_name, int(inside.function_start_line)
    return None


def rewritten(jaxpr: Any, rewrite: Rewrite) -> Any:
    """The jaxpr with every equation rewritten, inner jaxprs too, but not those under custom rules.

    Variables keep their identity and inner jaxprs their signature, so that the other parameters of loops stay valid.
    """
    body = open_jaxpr(jaxpr)
    new = [_rewritten(equation, rewrite) for equation in body.eqns]
    if all(one is other for one, other in zip(new, body.eqns, strict=True)):
        return jaxpr
    changed = body.replace(eqns=new)
    return changed if body is jaxpr else jaxpr.replace(jaxpr=changed)


def _rewritten(equation: Any, rewrite: Rewrite) -> Any:
    new = rewrite(equation)
    if new is not equation or primal_code(equation) is not None:
        return new
    changed: dict[str, Any] = {}
    for key, value in equation.params.items():
        if isinstance(value, (tuple, list)) and any(hasattr(open_jaxpr(part), "eqns") for part in value):
            parts = [rewritten(p, rewrite) if hasattr(open_jaxpr(p), "eqns") else p for p in value]
            # A namedtuple (the jaxprs of a linear solve) is made of its fields.
            made = type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
            changed |= {key: made} if any(a is not b for a, b in zip(parts, value, strict=True)) else {}
        elif hasattr(open_jaxpr(value), "eqns"):
            part = rewritten(value, rewrite)
            changed |= {key: part} if part is not value else {}
    return equation.replace(params={**equation.params, **changed}) if changed else equation


def call_of(code: Any | None, equation: Any) -> Any:
    """An equation that calls a closed jaxpr in place of another equation; the identity if there is none.

    Any call will do as a pattern: it is the jaxpr in it that counts, so that constants need no place among the inputs.
    """
    shapes = [jax.eval_shape(partial(_zeros, var.aval)) for var in equation.invars]
    results = [var.aval for var in equation.outvars]
    pattern = jax.jit(lambda *values: [_zeros(aval) for aval in results] if code is not None else list(values))
    call = open_jaxpr(jax.make_jaxpr(pattern)(*shapes)).eqns[-1]
    params = {**call.params, "jaxpr": code} if code is not None else call.params
    return call.replace(invars=list(equation.invars), outvars=list(equation.outvars), params=params)


def _zeros(aval: Any) -> Any:
    return jax.numpy.zeros(aval.shape, aval.dtype)


def function_of(jaxpr: Any) -> Callable[..., list[Any]]:
    """A closed jaxpr as a function of flat arrays."""
    run: Callable[..., list[Any]] = jaxpr_as_fun(jaxpr)
    return run


def bind(equation: Any, values: Sequence[Any]) -> list[Any]:
    """The results of an equation for the values of its inputs; traceable, rules included."""
    given = equation.primitive.get_bind_params(equation.params)
    functions, params = given if isinstance(given, tuple) else ((), given)  # functions became parameters in 0.10
    with equation.ctx.manager:
        result = equation.primitive.bind(*functions, *values, **params)
    return list(result) if equation.primitive.multiple_results else [result]


def is_literal(atom: Any) -> bool:
    """Whether an input of an equation is a literal constant."""
    return hasattr(atom, "val")


def is_inexact(atom: Any) -> bool:
    """Whether a variable holds floating or complex numbers."""
    dtype = getattr(atom.aval, "dtype", None)
    return dtype is not None and bool(jax.numpy.issubdtype(dtype, jax.numpy.inexact))


def scan_counts(equation: Any) -> tuple[int, int]:
    """The number of a scan's inputs that are constants, and of those that are its carry."""
    params = equation.params
    if "ft_in" in params:
        constant, carry, _ = params["ft_in"].unpack()
        return len(list(constant)), len(list(carry))
    return int(params["num_consts"]), int(params["num_carry"])
