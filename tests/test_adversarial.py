"""A quick part of ``benchmarks/adversarial.py``: for each known kind of wrong verdict a target or two, all as named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from adversarial import Answer, answers, modules

QUICK = {
    "a small derivative beside a large one": ("own_scale:f_1e10_1e4_lost", "own_scale:f_1e6_1e3_1e5"),
    "a small derivative that is right": ("own_scale:p_ratio_1e12",),
    "a small leaf among many inputs": ("many_inputs:f_two_1e6_lost", "many_inputs:f_forgotten"),
    "elements exchanged": ("many_inputs:f_swap_20_22", "many_inputs:f_raised_1_74"),
    "cancellation, right": ("cancellation:pu_softplus_34", "cancellation:pu_sagitta_1", "cancellation:p_exp_1e12"),
    "cancellation, lost": ("cancellation:fu_root_1e6_lost",),
    "a kink a few roundings away": ("kinks:pu_clip_30", "kinks:fu_bent_lost"),
    "the slope at a declared kink": ("declared_kinks:f_number_60percent", "declared_kinks:f_relu_right_5e7"),
    "a small entry of a Hessian": ("order2:f_1e6_1e4_lost",),
    "a given value or derivative": ("known_values:f_boltzmann_half", "known_values:f_derivative_1e12_half"),
    "a surrogate of parts": ("surrogates:f_parts_1e8_1e6_twice",),
    "few bits in a rule": ("rules_precision:f_saved_f32", "rules_precision:f_sent_bf16_sum"),
    "a VJP that is not linear": ("rules_precision:f_abs",),
    "a step of the author's": ("given_steps:pu_exp_1e4",),
    "oscillation": ("right_functions:pu_sin_at_1e13",),
    "a loop beside it": ("loops_and_casts:f_beside_small_lost",),
    "terms that cancel, counts that become indices, underflow": (
        "field_reports:p_nanmedian",
        "field_reports:p_big_intermediates",
        "field_reports:f_late_peak",
    ),
    "a cast beside it": ("loops_and_casts:f_mask_1e4",),
}
CHOSEN = [(kind, name) for kind, names in QUICK.items() for name in names]


@pytest.fixture(scope="module")
def judged() -> dict[str, Answer]:
    names = {name for _, name in CHOSEN}
    files = modules(sorted({name.partition(":")[0] for name in names}))
    return {answer.name: answer for answer in answers(files, names.__contains__)}


@pytest.mark.parametrize(("kind", "name"), CHOSEN, ids=[name for _, name in CHOSEN])
def test_the_verdict_is_as_named(judged: dict[str, Answer], kind: str, name: str) -> None:
    answer = judged[name]
    assert answer.grade == "as named", f"{kind}: {answer.verdict} {answer.message}"
