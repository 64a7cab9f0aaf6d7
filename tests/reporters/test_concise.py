"""Is there one line for each finding, whatever it says?"""

from __future__ import annotations

from gradhook.model.report import Notice, Report
from gradhook.model.results import Finding, Verdict
from gradhook.reporters.concise import render


def test_a_line_each(rich: Report) -> None:
    assert render(rich) == (
        "a/losses.py:13: GRD102 fail losses:huber d out / d delta[3]: JAX gives -0.5 (grad), "
        "finite differences give 0.5 ± 2e-11\n"
        "a/losses.py:12: GRD105 fail losses:huber the gradient is nan where the value is 0\n"
        "a/losses.py:20: GRD401 undecided losses:softplus x sits on a kink: 0 on the left, 1 on the right\n"
        "b.py:3: GRD901 error losses:gone import failed: No module named 'nowhere'\n"
        "ste.py:9: - skip losses:later needs two devices\n"
        "ste.py:30: GRD501 notice custom_jvp function clip has no claim\n"
    )


def test_nothing_to_say(target) -> None:
    assert render(Report((target("f", Verdict.PASS),))) == ""


def test_foreign_text_stays_on_its_line(target) -> None:
    finding = Finding("GRD101", Verdict.FAIL, "a\nb\x1b[2J\tc", path="x\ny.py", line=2)
    report = Report((target("f", Verdict.FAIL, findings=(finding,)),), (Notice("GRD501", "z\r.py", 1, "\u202ed"),))
    assert render(report) == ("x\\ny.py:2: GRD101 fail losses:f a b\\x1b[2J c\nz\\r.py:1: GRD501 notice \\u202ed\n")
