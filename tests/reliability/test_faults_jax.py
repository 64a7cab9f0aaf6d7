"""With JAX itself: what rules, ``forward`` and the configuration of JAX can do ends or turns no other target."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leftovers are looked for in /proc")
pytest.importorskip("jax")

HEAD = """
import ctypes, os, sys
import jax, jax.numpy as jnp, numpy as np
from gradhook import gradcheck, surrogate, normal, uniform
"""
INNOCENT = """
@gradcheck(args=(normal(3),))
def right(x):
    return jnp.sum(jnp.sin(x) * jnp.exp(-x * x))

@gradcheck(args=(np.array([0.0, 1.0]),))
def nan(x):
    return jnp.sum(jnp.where(x > 0, jnp.sqrt(x), 0.0))

@gradcheck(args=(normal(2),))
def wrong(x):
    return jnp.sum(x * jax.lax.stop_gradient(x))

@gradcheck(args=(normal(2),))
def mixed(x):
    return jnp.sum(x[:, None] * np.ones((2, 2), "float32") + np.ones(2))
"""
VERDICTS = {"right": "pass", "nan": "fail", "wrong": "fail", "mixed": "pass"}
RULE = """
@gradcheck(args=(normal(2),))
@jax.custom_jvp
def guilty(x):
    return jnp.sum(x * x)

@guilty.defjvp
def rule(primals, tangents):
    {code}
    return guilty(*primals), jnp.vdot(2 * primals[0], tangents[0])
"""
FORWARD = """
def forward(x):
    {code}
    return jnp.round(x)

@surrogate(forward=forward, derivative_of=lambda x: x, args=(uniform(2, low=0.1, high=0.4),))
@jax.custom_jvp
def guilty(x):
    return jnp.round(x)

guilty.defjvps(lambda dx, _, x: dx)
"""
FUNCTION = """
@gradcheck(args=(normal(2),))
def guilty(x):
    {code}
    return jnp.sum(x * x)
"""
IMPORT = "{code}\n" + FUNCTION.replace("    {code}\n", "")
ENDS = {
    "rule_raises": (RULE, "raise ValueError('boom')", "boom"),
    "rule_leaves": (RULE, "os._exit(0)", "GRD906"),
    "forward_raises": (FORWARD, "raise ValueError('boom')", "boom"),
    "forward_segfault": (FORWARD, "ctypes.string_at(0)", "GRD906"),
    "compiles_without_end": (FUNCTION, "for _ in range(10**9): x = jnp.sin(x)", "GRD905"),
    "patches_jax_at_import": (IMPORT, "jnp.exp = jnp.sin", "GRD910 the import of m_patches_jax_at_import replaced"),
    "patches_jax": (FUNCTION, "jax.jvp = jax.lax.sin = None", "GRD910"),
    "patches_numpy": (FUNCTION, "np.abs = np.asarray = lambda *a, **k: 0.0", "GRD910"),
}
CONFIG = "jax.config.update({!r}, {!r})"
CHANGES = {
    "x64_off": CONFIG.format("jax_enable_x64", False),
    "x64_on": CONFIG.format("jax_enable_x64", True),
    "debug_nans": CONFIG.format("jax_debug_nans", True),
    "debug_infs": CONFIG.format("jax_debug_infs", True),
    "disable_jit": CONFIG.format("jax_disable_jit", True),
    "strict_promotion": CONFIG.format("jax_numpy_dtype_promotion", "strict"),
    "rank_promotion": CONFIG.format("jax_numpy_rank_promotion", "raise"),
    "numpy_raises": "np.seterr(all='raise')",
}
IN_FUNCTION = ("x64_off", "debug_nans", "strict_promotion", "numpy_raises")
"""What leaves the guilty one's own verdict alone, when it is changed in the middle."""
CONTEXTS = "[manager.__enter__() for manager in (jax.enable_x64(False), jax.debug_nans(True), jax.disable_jit(True))]"


def compared(ended: Any, expected: dict[str, str]) -> tuple[int, int]:
    """How many verdicts there must be, and how many are missing or others."""
    return len(expected), sum(ended.verdicts.get(name) != verdict for name, verdict in expected.items())


def verdicts(stem: str) -> dict[str, str]:
    return {f"{stem}:{name}": verdict for name, verdict in VERDICTS.items()}


def test_what_ends_a_target_ends_no_other(checkout: Any, tally: Callable[..., None]) -> None:
    files = {f"m_{name}": HEAD + place.format(code=code) for name, (place, code, _) in ENDS.items()}
    checkout.write(a_innocent=HEAD + INNOCENT, z_innocent=HEAD + INNOCENT, **files)
    ended = checkout.check("--timeout", "15", jax=True)
    guilty = {f"m_{name}:guilty": said for name, (_, _, said) in ENDS.items()}
    verdict = {**dict.fromkeys(guilty, "error"), "m_rule_raises:guilty": "fail"}  # it has no derivative to claim
    expected = {**verdicts("a_innocent"), **verdicts("z_innocent"), **verdict}
    tally("with JAX: rules, forward, compilation and patches of JAX or NumPy end no other", *compared(ended, expected))
    assert ended.verdicts == expected
    assert {n: ended.finding(n) for n, said in guilty.items() if said not in ended.finding(n)} == {}
    assert (ended.code, ended.left) == (2, ())


def test_what_a_target_configures_turns_no_other(checkout: Any, tally: Callable[..., None]) -> None:
    checkout.write(a_innocent=HEAD + INNOCENT, z_innocent=HEAD + INNOCENT)
    checkout.write(**{f"m_import_{name}": HEAD + IMPORT.format(code=code) for name, code in CHANGES.items()})
    checkout.write(**{f"m_{name}": HEAD + FUNCTION.format(code=CHANGES[name]) for name in IN_FUNCTION})
    checkout.write(n_contexts=HEAD + FUNCTION.format(code=CONTEXTS))
    ended = checkout.check("--timeout", "60", jax=True)
    ours = {**verdicts("a_innocent"), **verdicts("z_innocent")}
    own = {f"{stem}{name}:guilty": "pass" for stem, names in (("m_import_", CHANGES), ("m_", IN_FUNCTION))
           for name in names}  # fmt: skip
    tally("with JAX: configuration of JAX and NumPy turns no other", *compared(ended, {**ours, **own}))
    assert {name: found for name, found in ended.verdicts.items() if name != "n_contexts:guilty"} == {**ours, **own}
    assert (ended.code in (1, 2), ended.left) == (True, ())
