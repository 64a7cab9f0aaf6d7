from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import pytest

from gradhook.checks import all_checks
from gradhook.execution.worker.examine import examine
from gradhook.model.results import CheckSettings, ClaimKind, Outcome, Target, Verdict, worst

Answers = dict[str, list[Outcome]]
Examine = Callable[..., Answers]


@pytest.fixture(autouse=True)
def float64() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.fixture
def contract() -> Examine:
    """Every answer about a surrogate, by code, options as in the annotation; of several cases, all of them."""

    def run(function: Any, kind: ClaimKind = ClaimKind.SURROGATE, **options: Any) -> Answers:
        target = Target("module", "f", "module.py", 1, 1, kind, "/nowhere")
        report = examine(function, target, options, CheckSettings(), lambda case: None)
        answers: Answers = {check.RULE.code: [] for check in all_checks()}
        for outcome in report.outcomes:
            answers.setdefault(outcome.code, []).append(outcome)
        return answers

    return run


@pytest.fixture
def verdict_without() -> Callable[..., Verdict]:
    """The verdict about a surrogate when some codes are ignored."""

    def run(function: Any, codes: tuple[str, ...], **options: Any) -> Verdict:
        target = Target("module", "f", "module.py", 1, 1, ClaimKind.SURROGATE, "/nowhere")
        report = examine(function, target, options, CheckSettings(), lambda case: None)
        left = [o.verdict for o in report.outcomes if o.code not in codes]
        return worst(left)

    return run
