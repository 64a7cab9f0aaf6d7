"""The fuzzer of verdicts: its two evaluators agree, what is false is found out and shrunk, and a run works."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from fuzz.verdicts import running, trials
from fuzz.verdicts.generating import generate
from fuzz.verdicts.judging import Answer, Array, Judged
from fuzz.verdicts.operations import OPERATIONS
from fuzz.verdicts.programs import Node, Program, outputs, values
from fuzz.verdicts.shrinking import shrunk, weight
from fuzz.verdicts.source import Wrong, module, plain
from fuzz.verdicts.trials import FALSE_FAILURE, FORGOTTEN, TRIPLED, trial
from fuzz.verdicts.truth import truth

COUNT = int(os.environ.get("FUZZ_VERDICTS", "20"))
"""Programs judged by the product itself."""
SEED = os.environ.get("FUZZ_SEED", "2026-12-01")
"""A change is measured on the same programs as the one before; the nightly job takes 200 with a seed of the day."""
CONSTANTS = {
    "clip": (-2.0, 0.6), "where": (0.5,), "where32": (0.5,), "item": (1.0,), "spread": (6.0,), "loop": (0.7, 3.0),
    "loop_newton": (3.0,), "loop_logistic": (2.9, 3.0), "whole_power": (3.0,), "power": (1.7,),
}  # fmt: skip


def claims(program: Program) -> tuple[Array, Array]:
    """Value and Jacobian by JAX."""
    function = plain(program)

    def flat(*args: Any) -> Any:
        return jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(function(*args))])

    with jax.enable_x64(True):
        args = jax.tree.map(jnp.asarray, program.arguments())
        both = jax.jit(lambda *x: (flat(*x), jax.jacfwd(flat, argnums=tuple(range(len(x))))(*x)))(*args)
        value, parts = np.asarray(both[0]), jax.tree.leaves(both[1])
        return value, np.concatenate([np.asarray(p).reshape(len(value), -1) for p in parts], axis=1)


def programs(seed: str, count: int) -> list[Program]:
    return [generate(random.Random(f"{seed}/{k}")) for k in range(count)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_the_same_in_jax_and_in_sixty_digits(name: str) -> None:
    operation = OPERATIONS[name]
    vector = operation.kind in ("reduce", "vector")
    leaves = tuple((0.7 + k, 0.3, 1.25) if vector else 0.7 + k for k in range(operation.operands))
    constants = CONSTANTS.get(name, (0.37,) * operation.constants)
    program = Program(leaves, (Node(name, tuple(range(len(leaves))), constants),), (len(leaves),))
    value, slopes = claims(program)
    duals = outputs(program)
    digits = 1e-6 if name == "float32" else 1e-13
    np.testing.assert_allclose(value, [float(d.v) for d in duals], rtol=digits)
    wanted = [[float(d.d.get(k, 0)) for k in range(slopes.shape[1])] for d in duals]
    np.testing.assert_allclose(slopes, wanted, rtol=1e-10, atol=1e-15)


def test_derivatives_in_sixty_digits_are_those_of_the_values() -> None:
    compared = 0
    for program in programs("values", 20):
        known = truth(program)
        for k in range(min(len(known.point), 6)):
            unit = np.eye(len(known.point))[k]
            for output in range(len(known.duals)):
                true = known.along(unit, output)
                if true.nature in ("vague", "no derivative") or 0 < known.duals[output].near.get(k, 1) < 1e-20:
                    continue
                compared += 1
                step = mp.mpf("1e-24")
                ahead, back = (known.side(unit, output, s) for s in (step, -step))
                size = mp.mpf("1e-12") * abs(true.value) + mp.mpf("1e-25")
                assert abs((ahead + back) / 2 - true.value) <= size, (module(program, None), k, output)
    assert compared > 200


def test_jax_and_sixty_digits_agree_on_random_programs() -> None:
    """JAX's own derivative may round, where terms cancel or a function saturates; nearly none do."""
    agree, of = 0, 0
    for program in programs("agree", 12):
        known = truth(program)
        value, slopes = claims(program)
        for output, dual in enumerate(known.duals):
            sure = not dual.narrowed and not dual.vague
            assert not sure or abs(float(dual.v) - value[output]) <= 4 * dual.error + 1e-290, module(program, None)
            for k in range(min(len(known.point), 8)):
                true = known.along(np.eye(len(known.point))[k], output)
                if true.nature == "smooth" and true.value:
                    of += 1
                    agree += abs(float(true.value) - slopes[output, k]) <= 1e-10 * abs(float(true.value))
    assert of > 50
    assert agree >= 0.98 * of


def test_every_program_has_a_text_and_every_primitive_occurs() -> None:
    seen = set()
    for program in programs("text", 200):
        compile(module(program, Wrong(leaf=0)), "<module>", "exec")
        seen |= {node.name for node in program.nodes}
        assert len(program.nodes) <= 20 and len(program.outputs) <= 6
        assert values(program)
    assert len(seen) >= 55
    assert programs("text", 3) == programs("text", 3)


@pytest.mark.parametrize(
    "offset, operation, nature",
    [
        (1.0, "abs", "no derivative"), (1.0 + 1e-15, "abs", "near a kink"), (1.0, "square", "smooth"),
        (1.0, "floor", "no derivative"), (1e9, "sqrt", "rounded"),
    ],
)  # fmt: skip
def test_natures(offset: float, operation: str, nature: str) -> None:
    sign = -1 if offset < 2 else 1
    program = Program((1.0,), (Node("shift", (0,), (sign * offset,)), Node(operation, (1,))), (2,))
    assert truth(program).along(np.ones(1), 0).nature == nature


def test_a_kink_whose_own_side_is_constant() -> None:
    program = Program((0.5,), (Node("clip", (0,), (-1.0, 0.5)),), (1,))
    assert truth(program).along(np.ones(1), 0).nature == "no derivative"


def test_a_kink_that_cancels_is_none() -> None:
    both = (Node("abs", (0,)), Node("negative", (0,)), Node("abs", (2,)), Node("subtract", (1, 3)))
    true = truth(Program((0.0,), both, (4,))).along(np.ones(1), 0)
    assert true.value == 0 and true.nature == "near a kink"


@dataclass(frozen=True)
class FakeJudge:
    """A judge that knows the truth, with a fault of its own.

    ``blind``: it overlooks errors smaller than so much of the largest slope of any output, as it tells none of it.
    ``harsh``: it fails right derivatives of programs in which an operation occurs.
    """

    blind: float = 0.0
    harsh: str = ""

    def __call__(self, program: Program, wrong: Wrong | None = None) -> Answer:
        known, n = truth(program), len(program.point)
        true = [[known.along(unit, o) for o in range(len(known.duals))] for unit in np.eye(n)]
        exact = np.array([[np.nan if t.value is None else float(t.value) for t in row] for row in true])
        slopes = exact + (0.0 if wrong is None else self._error(program, wrong, exact))
        accused = any(node.name == self.harsh for node in program.nodes)

        def judged(error: Array) -> Mapping[str, Judged]:
            return {"fwd": self._judged(slopes + error, exact, accused)}

        modes = judged(np.zeros(slopes.shape))
        said = "fail" if (modes["fwd"].verdict == "fail").any() else "pass"
        return Answer(said, (), modes, np.eye(n), np.zeros(n, dtype=bool), judged)

    def _error(self, program: Program, wrong: Wrong, exact: Array) -> Array:
        if wrong.leaf < 0:
            return np.outer(wrong.along, np.eye(exact.shape[1])[wrong.output] * wrong.amount)
        leaf_of = np.repeat(np.arange(len(program.sizes)), program.sizes)
        return np.where((leaf_of == wrong.leaf)[:, None], -exact, 0.0)

    def _judged(self, claim: Array, exact: Array, accused: bool) -> Judged:
        with np.errstate(invalid="ignore"):
            allowed = 2e-10 * np.abs(exact)
            right = np.abs(claim - exact) <= allowed + self.blind * np.nanmax(np.abs(exact), initial=0.0)
        verdict = np.where(
            np.isnan(exact) | (allowed == 0), "undecided", np.where(right & ~np.bool_(accused), "pass", "fail")
        )
        code = np.where(verdict == "undecided", "GRD401", "")
        told = np.full(claim.shape, 2e-10)
        return Judged(claim, verdict, code, allowed, told, np.abs(exact), np.isfinite(claim))


def kinds(judge: FakeJudge, count: int = 10) -> dict[str, trials.Find]:
    found: dict[str, trials.Find] = {}
    for k, program in enumerate(programs("fake", count)):
        for find in trial(program, judge, random.Random(k)).finds:
            found.setdefault(find.kind, find)
    return found


def test_a_judge_without_a_fault_has_none() -> None:
    found = kinds(FakeJudge())
    assert not found, [module(f.program, f.wrong) + f.note for f in found.values()]


def test_a_judge_that_scales_by_the_largest_is_found_out_and_the_find_is_shrunk() -> None:
    judge = FakeJudge(blind=1e-3)
    mixed = Program(
        (1.5, 2.5, (0.3, 0.4)),
        (
            Node("sin", (0,)), Node("scale", (3,), (1e10,)), Node("square", (1,)), Node("scale", (5,), (1.3e-4,)),
            Node("add", (4, 6)), Node("sum", (2,)),
        ),
        (7, 8),
    )  # fmt: skip
    found = {find.kind: find for find in trial(mixed, judge, random.Random(0)).finds}
    assert FORGOTTEN in found and TRIPLED in found
    for kind in (FORGOTTEN, TRIPLED):
        small = shrunk(found[kind], judge, patience=60)
        assert weight(small.program) < weight(mixed) and len(small.program.nodes) <= 3
        assert small.kind == kind
        assert kind in {f.kind for f in trial(small.program, judge, random.Random(0), full=0.0).finds}
        compile(module(small.program, small.wrong), "<module>", "exec")


def test_a_harsh_judge_is_found_out_and_the_operation_remains() -> None:
    judge = FakeJudge(harsh="tanh")
    program = Program(
        (0.25, (1.0, 2.0, 3.0)),
        (Node("tanh", (0,)), Node("exp", (2,)), Node("norm", (1,)), Node("multiply", (3, 4))),
        (3, 5),
    )
    (find,) = [f for f in trial(program, judge, random.Random(0)).finds if f.kind == FALSE_FAILURE]
    small = shrunk(find, judge, patience=60)
    assert [node.name for node in small.program.nodes] == ["tanh"] and small.program.leaves == (1.0,)
    assert "@gradcheck(args=(1.0,))" in module(small.program, None)


def test_no_verdict_is_false() -> None:
    """A run before the real judge."""
    total, finds = running.run(COUNT, SEED, jobs=1, seconds=max(300, 15 * COUNT))
    table = running.table(total.counts, finds, 1.0)
    assert total.counts["programs"] >= 0.8 * COUNT, table
    assert sum(n for name, n in total.counts.items() if name.startswith("pass")) > 10 * COUNT, table
    assert not finds, "\n".join([table, *(running.shown(*pair) for pair in running.varied(finds, 3))])
