"""Every job is in exactly one part, and the parts are about equally long."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.execution.supervisor import scheduling
from gradhook.execution.supervisor.scheduling import work_units, worker_count
from gradhook.model.protocol import Job
from gradhook.model.results import ClaimKind, Target


def jobs(sizes: list[int]) -> list[Job]:
    names = [(f"m{module}", f"f{n}") for module, size in enumerate(sizes) for n in range(size)]
    return [
        Job(number, Target(module, name, f"{module}.py", 1, 1, ClaimKind.EXACT, "/r"))
        for number, (module, name) in enumerate(names)
    ]


@given(sizes=st.lists(st.integers(1, 30), min_size=1, max_size=12), workers=st.integers(1, 9), data=st.data())
def test_each_job_is_someone_s(sizes: list[int], workers: int, data: Any) -> None:
    asked = jobs(sizes)
    known = data.draw(st.lists(st.sampled_from(asked), unique=True))
    times = {job.target.name: data.draw(st.floats(0, 1e6)) for job in known}
    parts = work_units(asked, workers, times)
    assert sorted(number for part in parts for number in part.first) == list(range(len(asked)))
    assert len(parts) <= workers
    assert all(part.first == sorted(part.first) and part.first for part in parts)
    for part in parts:
        assert part.modules == {asked[number].target.module_key for number in part.first}


@pytest.mark.parametrize("sizes", [[100], [1] * 100, [50, 30, 20], [97, 1, 1, 1], [4] * 25])
@pytest.mark.parametrize("workers", [2, 3, 4, 7])
def test_parts_are_about_equally_long(sizes: list[int], workers: int) -> None:
    longest = max(len(part.first) for part in work_units(jobs(sizes), workers, {}))
    assert longest <= 1.35 * sum(sizes) / workers + 1


def test_modules_stay_whole_where_they_can() -> None:
    parts = work_units(jobs([6, 5, 4, 3, 2, 1]), 3, {})
    assert sum(len(part.modules) for part in parts) == 6


@pytest.mark.parametrize(
    ("wanted", "targets", "platform", "cores", "workers"),
    [
        ("auto", 1, "cpu", 16, 1),
        ("auto", 7, "cpu", 16, 1),
        ("auto", 8, "cpu", 16, 2),
        ("auto", 1000, "cpu", 2, 2),
        ("auto", 1000, "cpu", 64, 8),
        ("auto", 1000, "cuda", 16, 1),
        (3, 1000, "cuda", 1, 3),
        (3, 1, "cpu", 16, 1),
        (3, 0, "cpu", 16, 1),
    ],
)
def test_crew(
    monkeypatch: pytest.MonkeyPatch, wanted: int | str, targets: int, platform: str, cores: int, workers: int
) -> None:
    monkeypatch.setattr(scheduling, "_cores", lambda: cores)
    assert worker_count(wanted, targets, platform) == workers
