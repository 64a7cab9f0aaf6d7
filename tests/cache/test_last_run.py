"""A run begins with what failed last; the report keeps its order."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from gradhook.execution import session
from gradhook.execution.cache import last_run
from gradhook.execution.cache.store import Store, open_store
from gradhook.model.results import ClaimKind, Target, TargetReport, Verdict, left_out_report

F = "@gradcheck(args=())\ndef {}():\n    return {}\n"


def started(project: Any, **overrides: Any) -> tuple[list[str], list[str]]:
    """The targets in the order in which they were begun, and in which they are reported."""
    begun: list[str] = []

    def progress(target: Target, stage: str) -> None:
        if stage == "start":
            begun.append(target.qualname)

    projects = session.find([project.root], {"python": sys.executable, **overrides}, {})
    report = session.check(projects, progress=progress)
    return begun, [t.target.qualname for t in report.targets]


def write(project: Any, **values: str) -> None:
    text = "from gradhook import gradcheck\n" + "".join(F.format(*pair) for pair in values.items())
    project.write({"a.py": text})


def test_what_failed_is_first(project: Any) -> None:
    write(project, a="1", b="2", c="False", d="1 / 0")
    assert started(project) == (list("abcd"), list("abcd"))
    write(project, a="2", b="2", c="0", d="3")
    assert started(project) == (list("cdab"), list("abcd"))
    write(project, a="3", b="2", c="0", d="3")
    assert started(project) == (list("abcd"), list("abcd")), "nothing failed last time"


def test_within_a_budget(project: Any) -> None:
    write(project, a="1", b="2", c="False")
    started(project)
    write(project, a="1", b="2", c="True")
    begun, _ = started(project, max_seconds="300")
    assert begun == ["c", "a", "b"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path, {"XDG_CACHE_HOME": str(tmp_path / "user")})


def report(name: str, verdict: Verdict) -> TargetReport:
    return TargetReport(Target("m", name, "m.py", 1, 1, ClaimKind.EXACT, "/root"), verdict)


def test_what_is_known_of_others_stays(store: Store) -> None:
    last_run.keep(store, [report("a", Verdict.FAIL), report("b", Verdict.UNDECIDED), report("c", Verdict.PASS)])
    assert len(last_run.failed(store)) == 2
    last_run.keep(store, [report("a", Verdict.PASS)])
    assert len(last_run.failed(store)) == 1
    last_run.keep(store, [left_out_report(report("b", Verdict.SKIP).target, "as slow", "")])
    assert len(last_run.failed(store)) == 1
    last_run.keep(store, [report("b", Verdict.SKIP), report("d", Verdict.ERROR)])
    assert len(last_run.failed(store)) == 1


def test_old_names_do_not_add_up(store: Store) -> None:
    for part in range(3):
        last_run.keep(store, [report(f"f{part}_{n}", Verdict.FAIL) for n in range(500)])
    assert len(last_run.failed(store)) == 1000


def test_garbage_is_nothing(store: Store) -> None:
    for garbage in ({"a": 1}, [1], "text"):
        store.write(last_run.LAST, "failed", garbage)
        assert last_run.failed(store) == frozenset()
