"""Find the results of a jaxpr that depend on its inputs, from its equations alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from gradhook.numerics.jaxpr import traverse

CALLS = ("pjit", "jit", "closed_call", "core_call", "checkpoint", "remat", "remat2", "custom_vmap_call", "remat_call")
PLAIN = frozenset({"argmax", "argmin", "is_finite", "zeros_like"})
"""Primitives whose results count as fixed: they are constant almost everywhere."""
Moves = list[bool]


def called(equation: Any) -> Any | None:
    """The jaxpr that an equation runs on its very inputs; the code under a custom rule counts as that."""
    code = traverse.primal_code(equation)
    if code is None and equation.primitive.name in CALLS:
        return next(traverse.inner(equation), None)
    if code is None and hasattr(equation.params.get("_prim"), "expand"):
        return _expanded(equation)
    return code


def _expanded(equation: Any) -> Any:
    """The jaxpr of a primitive composed of others (``searchsorted`` since JAX 0.12)."""
    made = equation.params["_prim"]

    def flat(*values: Any) -> list[Any]:
        return jax.tree.leaves(made.expand(*jax.tree.unflatten(made.in_tree, values)))

    def blank(var: Any) -> Any:
        return jax.eval_shape(lambda: jax.numpy.zeros(var.aval.shape, var.aval.dtype))

    return jax.make_jaxpr(flat)(*map(blank, equation.invars))


def moves(jaxpr: Any, inputs: Sequence[bool]) -> Moves:
    """Flags of the outputs of a jaxpr that depend on moving inputs."""
    body = traverse.open_jaxpr(jaxpr)
    moving = {var for var, moved in zip(body.invars, inputs, strict=True) if moved}
    for equation in body.eqns:
        found = of_equation(equation, [_is_in(atom, moving) for atom in equation.invars])
        moving.update(var for var, moved in zip(equation.outvars, found, strict=True) if moved)
    return [_is_in(atom, moving) for atom in body.outvars]


def of_equation(equation: Any, inputs: Sequence[bool]) -> Moves:
    """Flags of the outputs of an equation that depend on moving inputs."""
    name, code = equation.primitive.name, called(equation)
    if not any(inputs) or name in PLAIN:
        return [False] * len(equation.outvars)
    if code is not None:
        return moves(code, inputs)
    if name == "cond":
        return (
            _any(moves(branch, inputs[1:]) for branch in equation.params["branches"])
            if not inputs[0]
            else _all(equation)
        )
    if name == "scan":
        carry, rest = of_scan(equation, inputs)
        return carry + rest
    if name == "while":
        carry = of_while(equation, inputs)
        return _all(equation) if is_tested(equation, inputs, carry) else carry
    if name == "sort":
        return list(inputs)
    return _all(equation)


def of_scan(equation: Any, inputs: Sequence[bool]) -> tuple[Moves, Moves]:
    """Flags of a scan's carries and stacked outputs that depend on moving inputs, after any number of steps."""
    constants, carries = traverse.scan_counts(equation)
    carry = list(inputs[constants : constants + carries])
    while True:
        out = moves(equation.params["jaxpr"], [*inputs[:constants], *carry, *inputs[constants + carries :]])
        new = _any([carry, out[:carries]])
        if new == carry:
            return carry, out[carries:]
        carry = new


def of_while(equation: Any, inputs: Sequence[bool]) -> Moves:
    """Flags of the carries of a while loop that depend on moving inputs, after any number of steps."""
    before, constants = equation.params["cond_nconsts"], equation.params["body_nconsts"]
    carry = list(inputs[before + constants :])
    while True:
        new = _any([carry, moves(equation.params["body_jaxpr"], [*inputs[before : before + constants], *carry])])
        if new == carry:
            return carry
        carry = new


def is_tested(equation: Any, inputs: Sequence[bool], carry: Moves) -> bool:
    """Whether the number of turns of a while loop depends on the input."""
    before = equation.params["cond_nconsts"]
    return any(moves(equation.params["cond_jaxpr"], [*inputs[:before], *carry]))


def _is_in(atom: Any, moving: set[Any]) -> bool:
    return not traverse.is_literal(atom) and atom in moving


def _all(equation: Any) -> Moves:
    return [True] * len(equation.outvars)


def _any(lists: Any) -> Moves:
    return [any(column) for column in zip(*lists, strict=True)]
