"""Reports made by hand: one target builder, and one rich sample."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gradhook.model.report import Ignored, Notice, Report
from gradhook.model.results import ClaimKind, Finding, Outcome, Seconds, Target, TargetReport, Verdict
from gradhook.model.trace import Curve, Jacobian, Staircase

CURVE = Curve(
    "d out / d delta[3]", "rev", -0.5, 0.5, 2e-11, "smooth",
    (0.1875, 0.046875, 0.01171875, 0.0029296875), (0.506, 0.5004, 0.50002, 0.500001), (1e-15, 4e-15, 2e-14, 8e-14),
)  # fmt: skip
KINK = Curve(
    "d out / d x", "fwd", -0.5, -0.5, math.inf, "kink", (0.2, 0.05), (-0.5, math.nan), (1e-16, 4e-16), (-1.0, -1.0),
    (0.0, 0.0),
)  # fmt: skip
JACOBIAN = Jacobian("rev", ("delta[2]", "delta[3]"), ("out",), ((1.0,), (-0.5,)), ((1.0,), (0.5,)))
STAIRS = Staircase("x[0]", "out[0]", (-1.0, 0.5, 0.5000001, 2.0), (-1.0, 0.0, 1.0, 2.0), (1.0, 1.0, 1.0, 1.0))
TABLE = "left | on | right of each boundary: x[0] = 0.5: value 0 | 0 | 1, derivative 1 | 1 | 1; and 2 more along x[0]"
Build = Callable[..., TargetReport]


def build(qualname: str, verdict: Verdict, path: str = "a/losses.py", line: int = 1, **more: Any) -> TargetReport:
    claim = more.pop("claim", ClaimKind.EXACT)
    return TargetReport(Target("losses", qualname, path, line, line, claim, "/root"), verdict, **more)


@pytest.fixture
def target() -> Build:
    return build


@pytest.fixture
def rich() -> Report:
    wrong = Finding(
        "GRD102",
        Verdict.FAIL,
        "d out / d delta[3]: JAX gives -0.5 (grad), finite differences give 0.5 ± 2e-11",
        case="batch",
        mode="rev",
        order=1,
        leaf="delta",
        index=(3,),
        output="out",
        claimed=-0.5,
        measured=0.5,
        error=2e-11,
        tolerance=1e-7,
        resolution=4e-10,
        path="a/losses.py",
        line=13,
        help="the rule's factor has the wrong sign",
        reproduce="gradhook check a/losses.py -k huber",
    )
    nan = Finding(
        "GRD105", Verdict.FAIL, "the gradient is nan where the value is 0", claimed=math.nan, measured=-math.inf
    )
    kink = Finding("GRD401", Verdict.UNDECIDED, "x sits on a kink: 0 on the left, 1 on the right", case="zero")
    broken = Finding("GRD901", Verdict.ERROR, "import failed: No module named 'nowhere'", path="b.py", line=3)
    passes = tuple(
        Outcome(code, Verdict.PASS, case, resolution=3e-13)
        for code in ("GRD101", "GRD102", "GRD103")
        for case in ("args", "zero")
    )
    return Report(
        (
            build(
                "objective",
                Verdict.PASS,
                line=40,
                outcomes=(*passes, Outcome("GRD104", Verdict.SKIP, note="no custom rule")),
                resolution=3e-13,
                seconds=Seconds(0.5, 0.25),
            ),
            build(
                "huber",
                Verdict.FAIL,
                line=12,
                findings=(wrong, nan),
                output="loss\tis 3\n\x1b[31mred\n",
                resolution=4e-10,
            ),
            build("softplus", Verdict.UNDECIDED, line=20, findings=(kink,)),
            build(
                "round",
                Verdict.PASS,
                "ste.py",
                5,
                claim=ClaimKind.SURROGATE,
                outcomes=(Outcome("GRD202", Verdict.PASS, "args"),),
                resolution=0.0,
                cached=True,
            ),
            build("gone", Verdict.ERROR, "b.py", 9, findings=(broken,)),
            build(
                "later",
                Verdict.SKIP,
                "ste.py",
                9,
                outcomes=(Outcome("GRD101", Verdict.SKIP, note="needs two devices"),),
            ),
        ),
        (Notice("GRD501", "ste.py", 30, "custom_jvp function clip has no claim"),),
        {
            "gradhook": "0.1.0",
            "python": "3.11.7",
            "jax": "0.10.2",
            "jaxlib": "0.10.1",
            "numpy": "2.3.0",
            "platform": "cpu",
            "device": "cpu",
            "x64": True,
            "steps": "ladder",
        },
        {
            "rtol": {"value": 2e-10, "origin": "default"},
            "seed": {"value": 7, "origin": "--seed"},
            "modes": {"value": ("fwd",), "origin": "pyproject.toml"},
        },
        3.21,
        (
            Ignored("GRD406", "comment a/losses.py:40", "a/losses.py", 44, "narrow", "losses:objective", kink.verdict),
            Ignored("GRD501", "ignore (pyproject.toml)", "ste.py", 50, "custom_jvp function floor has no claim"),
        ),
    )


@pytest.fixture
def pictured(rich: Report) -> Report:
    """The rich report as it is with the setting ``curves``."""

    def drawn(report: TargetReport) -> TargetReport:
        match report.target.qualname:
            case "objective":
                return replace(report, outcomes=(replace(report.outcomes[0], curve=CURVE), *report.outcomes[1:]))
            case "huber":
                wrong = replace(report.findings[0], curve=CURVE)
                outcomes = (Outcome("GRD102", Verdict.FAIL, "batch", (wrong,), jacobian=JACOBIAN),)
                return replace(report, findings=(wrong, *report.findings[1:]), outcomes=outcomes)
            case "softplus":
                return replace(report, findings=(replace(report.findings[0], curve=KINK),))
            case "round":
                stairs = Outcome("GRD207", Verdict.PASS, "args", note=TABLE, staircases=(STAIRS,))
                return replace(report, outcomes=(*report.outcomes, stairs))
        return report

    return replace(rich, targets=tuple(map(drawn, rich.targets)))
