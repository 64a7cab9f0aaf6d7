"""Do the examples say what the README promises?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def check(*arguments: str, cwd: Path = ROOT) -> tuple[int, dict[str, dict[str, object]]]:
    """Run ``gradhook check`` for real; its exit code, and the targets of its JSON report by name."""
    command = [sys.executable, "-m", "gradhook", "check", "--output-format", "json", *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    report = json.loads(done.stdout)
    return done.returncode, {f"{t['path']}:{t['target']}": t for t in report["targets"]}


@pytest.fixture(scope="module")
def all_examples() -> tuple[int, dict[str, dict[str, object]]]:
    return check("examples")


def test_every_target_has_a_verdict_and_the_run_fails(all_examples: tuple[int, dict[str, dict[str, object]]]) -> None:
    code, targets = all_examples
    assert code == 1
    assert len(targets) == 28
    assert {t["verdict"] for t in targets.values()} == {"pass", "fail", "undecided"}


@pytest.mark.parametrize(
    ("target", "code", "leaf"),
    [
        ("examples/wrong/losses.py:losses:squared_error", "GRD102", "target"),
        ("examples/wrong/losses.py:losses:root_or_zero", "GRD105", "x"),
        ("examples/wrong/losses.py:losses:hinge", "GRD401", "x"),
        ("examples/wrong/losses.py:losses:log_sum", "GRD103", "x"),
        ("examples/wrong/solvers.py:solvers:decay", "GRD101", "time"),
        ("examples/wrong/solvers.py:solvers:gain", "GRD406", "x"),
    ],
)
def test_every_planted_fault_is_named_with_place_leaf_and_numbers(
    all_examples: tuple[int, dict[str, dict[str, object]]], target: str, code: str, leaf: str
) -> None:
    findings = [f for f in all_examples[1][target]["findings"] if f["code"] == code]  # type: ignore[attr-defined]
    assert findings, f"{target} has no finding {code}"
    finding = findings[0]
    assert finding["leaf"] == leaf
    assert finding["path"] == target.split(":")[0]
    assert finding["line"] > 0
    assert finding["claimed"] is not None and finding["measured"] is not None


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("inexact_forward", "GRD201"),
        ("lost_at_second_order", "GRD206"),
        ("half_on_the_bound", "GRD207"),
        ("clipped_gradient", "GRD203"),
    ],
)
def test_every_wrong_surrogate_is_found_by_its_question_alone(
    all_examples: tuple[int, dict[str, dict[str, object]]], name: str, code: str
) -> None:
    target = all_examples[1][f"examples/surrogates/wrong.py:wrong:{name}"]
    assert {f["code"] for f in target["findings"]} == {code}  # type: ignore[attr-defined]


def test_right_surrogates_pass_and_state_their_bias(all_examples: tuple[int, dict[str, dict[str, object]]]) -> None:
    right = [t for name, t in all_examples[1].items() if "surrogates" in name and "wrong.py" not in name]
    assert len(right) == 9
    assert {t["verdict"] for t in right} == {"pass"}


def test_the_right_half_passes_alone() -> None:
    code, targets = check("examples/quickstart.py", "examples/right")
    assert code == 0
    assert {t["verdict"] for t in targets.values()} == {"pass"}
    assert all(float(str(t["resolution"])) <= 1e-9 for t in targets.values())


def test_an_installed_package_is_checked_by_configuration_alone() -> None:
    pytest.importorskip("optax", reason="the optax project needs optax, which the test extra installs")
    code, targets = check(".", cwd=ROOT / "tests" / "projects" / "optax_targets")
    assert code == 0
    assert len(targets) >= 12
    assert {t["verdict"] for t in targets.values()} == {"pass"}
