"""How does an examination read, and does a program get all of it?"""

from __future__ import annotations

import json
import math
from dataclasses import replace

from gradhook.model.results import Finding, Outcome, TargetReport, Verdict
from gradhook.model.trace import CaseTrace, Curve, DerivativeTrace, InputTrace
from gradhook.reporters.display_options import DisplayOptions
from gradhook.reporters.explanation import as_json, as_text

from .conftest import build

CURVE = Curve("d out / d x", "fwd", 0.5, 0.25, 1e-9, "smooth", (0.5, 0.125), (0.26, 0.25), (1e-16, 4e-16))
WRONG = DerivativeTrace(
    "forward mode", 1, "", 1, 1, 0, "d out / d x", 0.5, 0.25, 1e-9, 1e-10, 4e-9, 0.0, "smooth", "fails: far off", CURVE
)
ACCOUNT = CaseTrace(
    "args",
    (
        InputTrace("x", "float64[2]", "positive(2)", "(0, inf)", True, 0.5, 2.0),
        InputTrace("argument 1", "str", "given", "", False),
    ),
    ("out float64[]",),
    "2 single inputs of 2; seed 0",
    ("less than float64 inside: a cast (m.py:3)",),
    (
        WRONG,
        replace(WRONG, what="reverse mode", failed=0, undecided=2, noise=1e-7),
        DerivativeTrace("reverse over forward mode", 2, "there is no rule"),
    ),
)
REPORT = build(
    "f",
    Verdict.FAIL,
    outcomes=(
        Outcome("GRD101", Verdict.FAIL, "args", (Finding("GRD101", Verdict.FAIL, "wrong"),), 1e-9),
        Outcome("GRD102", Verdict.UNDECIDED, "args", (Finding("GRD405", Verdict.UNDECIDED, "noisy"),)),
        Outcome("GRD104", Verdict.SKIP, "args", note="no custom rule"),
        Outcome("GRD105", Verdict.PASS, "args", resolution=3e-10),
        Outcome("GRD302", Verdict.PASS, "bad shape"),
    ),
    traces=(ACCOUNT,),
)
SCREEN = """\
losses:f  exact claim  a/losses.py:1  fail

case args
  inputs
    x           float64[2]  positive(2)  differentiated, in (0, inf), values 0.5 to 2
    argument 1  str         given        not differentiated
  outputs: out float64[]
  followed along 2 single inputs of 2; seed 0
  less than float64 inside: a cast (m.py:3)

  forward mode, order 1: 1 pass, 1 fail
    worst element  d out / d x
    claimed        0.5
    measured       0.25 ± 1e-09 (smooth)
    allowed        1e-10, resolution 4e-9
                  step        difference   minus the claim             noise
                   0.5              0.26             -0.24             1e-16
                 0.125              0.25             -0.25             4e-16
    fails: far off

  reverse mode, order 1: 1 pass, 2 undecided
    worst element  d out / d x
    claimed        0.5
    measured       0.25 ± 1e-09 (smooth)
    allowed        1e-10, resolution 4e-9
    noise          1e-07
    ladder         as above
    fails: far off

  reverse over forward mode, order 2: there is no rule

  questions
    GRD101  fail       wrong
    GRD102  undecided  GRD405: noisy
    GRD104  skip       no custom rule
    GRD105  pass       resolution 3e-10

case bad shape

  questions
    GRD302  pass
"""


def test_the_screen() -> None:
    assert as_text([REPORT]) == SCREEN


def test_one_sided_differences_stand_beside_where_there_are_some() -> None:
    kink = replace(CURVE, shape="kink", left=(-1.0, math.nan), right=(1.0, 1.0))
    account = replace(ACCOUNT, comparisons=(replace(WRONG, curve=kink),))
    text = as_text([replace(REPORT, traces=(account,))])
    assert "             noise              left             right\n" in text
    assert "             4e-16               nan                 1\n" in text


def test_colour_and_foreign_names() -> None:
    broken = Finding("GRD901", Verdict.ERROR, "no\nmodule")
    text = as_text([build("g\x1b", Verdict.ERROR, findings=(broken,))], DisplayOptions(color=True))
    assert "g\\x1b" in text
    assert "GRD901 error: no module" in text
    assert "\x1b[1;31merror\x1b[0m" in text


def test_a_program_gets_all_of_it() -> None:
    strange = replace(WRONG, error=math.inf, measured=math.nan)
    report: TargetReport = replace(REPORT, traces=(replace(ACCOUNT, comparisons=(strange,)),))
    (item,) = json.loads(as_json([report]))
    assert (item["target"], item["verdict"], len(item["outcomes"])) == ("losses:f", "fail", 5)
    (case,) = item["cases"]
    assert case["inputs"][0]["domain"] == "(0, inf)"
    assert (case["comparisons"][0]["error"], case["comparisons"][0]["measured"]) == ("inf", "nan")
    assert case["comparisons"][0]["curve"]["steps"] == [0.5, 0.125]
