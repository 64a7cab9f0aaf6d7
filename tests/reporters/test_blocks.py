"""What stops many targets alike is told once, in every format that people read."""

from __future__ import annotations

from gradhook.model.report import Report
from gradhook.model.results import Finding, Verdict
from gradhook.reporters import concise, github_summary, terminal
from gradhook.reporters.blocks import together
from gradhook.reporters.display_options import DisplayOptions

MISSING = Finding("GRD901", Verdict.ERROR, "the import failed: No module named 'nowhere'", path="helper.py", line=3)


def _stopped(target, count: int, finding: Finding = MISSING):
    return tuple(
        target(f"f{n}", Verdict.ERROR, path="a.py" if n < 9 else "b.py", line=n, findings=(finding,))
        for n in range(count)
    )


def test_one_cause_is_one_block_where_the_first_stood(target) -> None:
    other = target("g", Verdict.PASS)
    block, kept = together((*_stopped(target, 14), other))
    assert (block.target.qualname, kept) == ("14 targets not checked", other)
    (finding,) = block.findings
    assert finding.message == f"{MISSING.message} (losses:f0, losses:f1, losses:f2, losses:f3 and 10 more)"
    assert (finding.path, finding.line) == ("helper.py", 3)


def test_all_names_on_request(target) -> None:
    (block,) = together(_stopped(target, 6), named=None)
    assert block.findings[0].message.endswith("(losses:f0, losses:f1, losses:f2, losses:f3, losses:f4, losses:f5)")


def test_a_single_target_keeps_its_name(target) -> None:
    reports = list(_stopped(target, 1))
    assert together(reports) == reports


def test_other_causes_and_cases_stay_apart(target) -> None:
    elsewhere = Finding("GRD901", Verdict.ERROR, MISSING.message, path="helper.py", line=4)
    raised = Finding("GRD904", Verdict.ERROR, "the function raised: ValueError", case="args", path="helper.py", line=3)
    reports = [*_stopped(target, 1), *_stopped(target, 1, elsewhere), *_stopped(target, 2, raised)]
    assert together(reports) == reports


def test_every_format_for_people_tells_it_once(target) -> None:
    report = Report((*_stopped(target, 14), target("g", Verdict.PASS)))
    for text in (terminal.render(report), concise.render(report), github_summary.render(report)):
        assert text.count("No module named 'nowhere'") == 1
        assert "14 targets not checked" in text and "losses:f3 and 10 more" in " ".join(text.split())
    assert "14 could not be run, 1 passed" in terminal.render(report)
    assert "losses:f13" in " ".join(terminal.render(report, DisplayOptions(verbose=True)).split())
