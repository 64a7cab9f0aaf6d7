"""The Python text of a program: what is judged, and what is printed when something is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fuzz.verdicts.operations import OPERATIONS
from fuzz.verdicts.programs import Program


@dataclass(frozen=True)
class Wrong:
    """How a derivative is made wrong: ``amount`` times the tangent along ``along`` is added to one output, or ``leaf``
    is dropped."""

    output: int = 0
    along: tuple[float, ...] = ()
    amount: float = 0.0
    leaf: int = -1


def body(program: Program) -> str:
    """The function ``f``."""
    count = len(program.leaves)
    names = [f"x{k:03}" if program.tree else f"x{k}" for k in range(count)]
    lines = [f"def f({'tree' if program.tree else ', '.join(names)}):"]
    lines += [f'    {name} = tree["{name}"]' for name in names if program.tree]
    names += [f"v{k}" for k in range(len(program.nodes))]
    for k, node in enumerate(program.nodes):
        numbers = {f"c{n}": _number(c) for n, c in enumerate(node.constants)}
        numbers |= {f"i{n}": str(int(c)) for n, c in enumerate(node.constants)}
        text = OPERATIONS[node.name].text.format(*(names[n] for n in node.operands), **numbers)
        lines.append(f"    {names[count + k]} = {text}")
    return "\n".join([*lines, f"    return {', '.join(names[k] for k in program.outputs)}"])


def _number(value: float) -> str:
    return f"({value!r})" if value < 0 else repr(value)


def plain(program: Program) -> Callable[..., Any]:
    """The function as JAX sees it."""
    space: dict[str, Any] = {"jax": jax, "jnp": jnp, "np": np}
    exec(compile(body(program), "<program>", "exec"), space)
    function: Callable[..., Any] = space["f"]
    return function


def faulty(function: Callable[..., Any], wrong: Wrong) -> Callable[..., Any]:
    """``function`` with a rule that makes its derivative wrong."""
    mutant = jax.custom_jvp(lambda *args: function(*args))

    @mutant.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        leaves, tree = jax.tree.flatten(tangents)
        if wrong.leaf >= 0:
            leaves[wrong.leaf] = jnp.zeros_like(leaves[wrong.leaf])
        value, tangent = jax.jvp(function, primals, jax.tree.unflatten(tree, leaves))
        if wrong.amount:
            flat = jnp.concatenate([jnp.ravel(leaf) for leaf in leaves])
            tangent = _added(tangent, wrong.output, wrong.amount * jnp.dot(jnp.array(wrong.along), flat))
        return value, tangent

    return mutant


def _added(tangent: Any, place: int, error: Any) -> Any:
    leaves, tree = jax.tree.flatten(tangent)
    for k, leaf in enumerate(leaves):
        if place < leaf.size:
            leaves[k] = (leaf.ravel().at[place].add(error)).reshape(leaf.shape)
            break
        place -= leaf.size
    return jax.tree.unflatten(tree, leaves)


HEAD = """import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

"""
RULE = """
g = jax.custom_jvp(f)


@g.defjvp
def _(primals, tangents):
    tangents, tree = jax.tree.flatten(tangents)
    {change}
    value, tangent = jax.jvp(f, primals, jax.tree.unflatten(tree, tangents))
    return value, {result}


target = gradcheck(args={arguments})(g)
"""


def module(program: Program, wrong: Wrong | None) -> str:
    """A module that shows what was found."""
    arguments = repr(program.arguments()).replace("array(", "np.array(")
    if wrong is None:
        return f"{HEAD}\n@gradcheck(args={arguments})\n{body(program)}\n"
    if wrong.leaf >= 0:
        change, result = f"tangents[{wrong.leaf}] = 0 * tangents[{wrong.leaf}]  # the fault", "tangent"
        return f"{HEAD}\n{body(program)}\n\n{RULE.format(change=change, result=result, arguments=arguments)}"
    change = "flat = jnp.concatenate([jnp.ravel(t) for t in tangents])"
    along = _sparse(wrong)
    result = f"wrong(tangent, {wrong.output}, {wrong.amount!r} * ({along}))  # the fault"
    helper = (
        "\n\ndef wrong(tangent, place, error):\n"
        "    flat, back = jax.flatten_util.ravel_pytree(tangent)\n"
        "    return back(flat.at[place].add(error))\n\n"
    )
    head = HEAD.replace("import jax\n", "import jax\nimport jax.flatten_util\n", 1)
    return f"{head}\n{body(program)}\n{helper}{RULE.format(change=change, result=result, arguments=arguments)}"


def _sparse(wrong: Wrong) -> str:
    moved = [k for k, weight in enumerate(wrong.along) if weight]
    if len(moved) == 1 and wrong.along[moved[0]] == 1:
        return f"flat[{moved[0]}]"
    return f"jnp.dot(jnp.array({list(wrong.along)}), flat)"
