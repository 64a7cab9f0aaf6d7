"""Is the screen readable, complete and safe?"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.model.report import Notice, Report
from gradhook.model.results import ClaimKind, Finding, Outcome, Target, TargetReport, Verdict
from gradhook.model.trace import Curve
from gradhook.reporters.display_options import DisplayOptions
from gradhook.reporters.terminal import render

SCREEN = """\
b.py
  ERROR     gone  GRD901 import failed: No module named 'nowhere'
                  b.py:3

a/losses.py
  FAIL      huber      GRD102 d out / d delta[3]: JAX gives -0.5 (grad), finite differences give 0.5
                       ± 2e-11
                       a/losses.py:13 · case batch · resolution 4e-10
                       help: the rule's factor has the wrong sign
                       rerun: gradhook check a/losses.py -k huber
  FAIL                 GRD105 the gradient is nan where the value is 0
                       a/losses.py:12
                       | loss    is 3
                       | \\x1b[31mred
  UNDECIDED softplus   GRD401 x sits on a kink: 0 on the left, 1 on the right
                       a/losses.py:20 · case zero
  pass      objective  order 2, forward and reverse · 2 cases · resolution 3e-13

ste.py
  pass      round  surrogate, as declared · resolution exact · cached
  skip      later  needs two devices
                   ste.py:9

notices
  ste.py:30: GRD501 custom_jvp function clip has no claim

1 could not be run, 1 failed, 1 undecided, 2 passed (1 surrogate, 1 cached), 1 skipped, 1 notice in 3.2 s
2 findings ignored: GRD406 by comment a/losses.py:40, GRD501 by ignore (pyproject.toml)
gradhook 0.1.0 · Python 3.11.7 · jax 0.10.2 · jaxlib 0.10.1 · numpy 2.3.0 · cpu · float64 ·
rtol 2e-10 · steps: ladder · seed 7
"""


def test_the_screen(rich: Report) -> None:
    assert render(rich) == SCREEN


def test_narrow_screens_put_the_text_below_the_name(rich: Report) -> None:
    lines = render(rich, DisplayOptions(width=56)).splitlines()
    at = lines.index("  FAIL      huber")
    assert lines[at + 1] == "            GRD102 d out / d delta[3]: JAX gives -0.5"
    exempt = [line for line in lines if line.startswith("1 could not be run")]
    assert max(len(line) for line in lines if line not in exempt) <= 56


def test_colour_is_only_paint(rich: Report) -> None:
    painted = render(rich, DisplayOptions(color=True))
    assert "\x1b[1;31mFAIL\x1b[0m" in painted
    assert "\x1b[1;31m1 could not be run, 1 failed" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == SCREEN


def test_quiet_leaves_out_passes_and_versions(rich: Report) -> None:
    screen = render(rich, DisplayOptions(quiet=True))
    assert "objective" not in screen
    assert "jaxlib" not in screen
    assert "huber" in screen
    assert "later" in screen
    assert "2 passed (1 surrogate, 1 cached)" in screen


def test_verbose_shows_skipped_questions_and_times(rich: Report) -> None:
    assert "no custom rule" not in render(rich)
    screen = render(rich, DisplayOptions(verbose=True))
    assert "GRD104 skipped: no custom rule" in screen
    assert "compiled in 0.50 s, ran in 0.25 s" in screen


def test_only_failures_still_counts_the_rest(rich: Report) -> None:
    screen = render(rich, DisplayOptions(only_failures=True))
    assert "huber" in screen and "gone" in screen
    assert not any(name in screen for name in ("softplus", "objective", "later", "notices"))
    assert "1 undecided, 2 passed" in screen


def test_the_source_is_shown_once_and_cut(rich: Report) -> None:
    sources = {
        ("a/losses.py", 13): "13 | def huber(x, delta):\t# " + "long " * 40,
        ("a/losses.py", 12): "12 | \x1b[31m",
    }
    screen = render(rich, DisplayOptions(sources=sources))
    line = next(line for line in screen.splitlines() if "13 | def huber(x, delta):" in line)
    assert line.startswith("                       13 |") and line.endswith("…") and len(line) <= 100
    assert "12 | \\x1b[31m" in screen
    twice = replace(rich.targets[1], findings=(rich.targets[1].findings[0],) * 2)
    assert render(Report((twice,)), DisplayOptions(sources=sources)).count("13 | def") == 1


def test_a_command_is_never_broken(rich: Report) -> None:
    assert "\n            rerun: gradhook check a/losses.py -k huber\n" in render(rich, DisplayOptions(width=45))


def test_verbose_draws_the_ladder(pictured: Report) -> None:
    assert "how far" not in render(pictured)
    screen = render(pictured, DisplayOptions(verbose=True))
    assert screen.count("d out / d delta[3]: how far differences are off the claim, by step") == 2
    assert "d out / d x: how far the two sides lie apart, by step" in screen
    assert "█" in screen
    plain = render(pictured, DisplayOptions(verbose=True, blocks=False))
    assert "#" in plain and not set("▁█░┤└─") & set(plain)


def test_verbose_shows_every_case(rich: Report) -> None:
    assert "case zero · pass · resolution 3e-13" in render(rich, DisplayOptions(verbose=True))
    assert "case zero · pass" not in render(rich)


@pytest.mark.parametrize("width", [40, 60, 100, 160])
def test_no_picture_is_wider_than_the_screen(pictured: Report, width: int) -> None:
    drawn = [
        line
        for line in render(pictured, DisplayOptions(verbose=True, width=width)).splitlines()
        if set(line) & set("┤└")
    ]
    assert drawn and max(map(len, drawn)) <= width


def test_questions_that_did_not_apply_for_one_reason_are_told_together(target) -> None:
    outcomes = tuple(Outcome(code, Verdict.SKIP, note="no custom rule") for code in ("GRD203", "GRD204"))
    screen = render(Report((target("f", Verdict.PASS, outcomes=outcomes),)), DisplayOptions(verbose=True))
    assert "GRD203, GRD204 skipped: no custom rule" in screen


def test_a_surrogate_is_never_called_a_right_gradient(target) -> None:
    screen = render(Report((target("f", Verdict.PASS, claim=ClaimKind.SURROGATE),)))
    assert "surrogate, as declared" in screen
    assert "1 passed (1 surrogate)" in screen


def test_many_findings_are_cut_and_a_repeated_help_is_said_once(target) -> None:
    findings = tuple(Finding("GRD101", Verdict.FAIL, f"number {n}", help="look") for n in range(9))
    report = Report((target("f", Verdict.FAIL, findings=findings),))
    screen = render(report)
    assert "number 4" in screen
    assert "number 5" not in screen
    assert "and 4 more findings; -v shows all" in screen
    assert screen.count("help: look") == 1
    assert "number 8" in render(report, DisplayOptions(verbose=True))


def test_long_output_keeps_its_end(target) -> None:
    findings = (Finding("GRD101", Verdict.FAIL, "wrong"),)
    report = Report((target("f", Verdict.FAIL, findings=findings, output="".join(f"line {n}\n" for n in range(50))),))
    screen = render(report)
    assert "| … 30 lines before; -v shows all\n" in screen
    assert "| line 30\n" in screen
    assert "| line 29\n" not in screen
    assert "| line 0\n" in render(report, DisplayOptions(verbose=True))


def test_output_of_what_passed_is_not_shown(target) -> None:
    assert "noise" not in render(Report((target("f", Verdict.PASS, output="noise\n"),)), DisplayOptions(verbose=True))


@pytest.mark.parametrize("verdict", [v for v in Verdict if v not in (Verdict.PASS, Verdict.ADVICE)])
def test_no_verdict_but_pass_is_without_a_reason(target, verdict: Verdict) -> None:
    assert "no reason was given" in render(Report((target("f", verdict),)))


def test_nothing_at_all() -> None:
    assert render(Report(())) == "nothing checked in 0.0 s\n"


def test_a_long_name_stands_alone(target) -> None:
    name = "Outer." * 9 + "f"
    lines = render(Report((target(name, Verdict.PASS), target("g", Verdict.PASS, line=2)))).splitlines()
    assert lines[1] == f"  pass      {name}"
    assert lines[3].startswith("  pass      g  ")


HOSTILE = st.text(st.sampled_from("ab \n\r\t\x00\x07\x1b[31m\x85\u2028\u202e\udcff\u200bé漢·"), max_size=30)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_foreign_text_cannot_draw_on_the_screen(name: str, path: str, message: str) -> None:
    curve = Curve(name, "fwd", 1.0, 2.0, 0.1, "smooth", (0.5, 0.1), (2.5, 2.1), (0.0, 0.0))
    finding = Finding(
        "GRD101", Verdict.FAIL, message, path=path, line=1, case=name, help=message, reproduce=message, curve=curve
    )
    subject = Target(name, name, path, 1, 1, ClaimKind.EXACT, path)
    outcomes = (Outcome("GRD1", Verdict.PASS, note=message),)
    report = TargetReport(subject, Verdict.FAIL, outcomes, (finding,), output=message)
    sources = {(path, 1): message}
    whole = Report((report,), (Notice("GRD501", path, 1, message),), {"device": message})
    screen = render(whole, DisplayOptions(verbose=True, sources=sources))
    assert all(line.isprintable() for line in screen.split("\n"))
    screen.encode()
    assert sum(line.startswith("  FAIL ") for line in screen.split("\n")) == 1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (4e-10, "resolution 4e-10"), (0.02, "resolution 0.02"), (1.0, "resolution 1"),
        (0.0, "resolution exact"), (float("inf"), "no resolution"),
        (float("nan"), "no resolution"),
    ],
)  # fmt: skip
def test_resolutions_in_words(target, value: float, words: str) -> None:
    assert f" · {words}\n" in render(Report((target("f", Verdict.PASS, resolution=value),)))
