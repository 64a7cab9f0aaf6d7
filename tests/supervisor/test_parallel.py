"""Several workers at once: the same reports in the same order, and no process for nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gradhook.execution.supervisor import scheduling
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import Answered, Began, Discovered
from gradhook.model.results import Target, TargetReport

FAKE_BOOT = Path(__file__).parents[1] / "fake_boot.py"
LOG = """
import os
from pathlib import Path
LOG = Path(__file__).parent / "log"
LOG.mkdir(exist_ok=True)
(LOG / f"{Path(__file__).stem} {os.getpid()}").touch()
"""


def claim(name: str, body: str = "return 1") -> str:
    return f"@gradcheck(args=())  # {name}\ndef {name}():\n    {body}\n"


def loop(*names: str) -> str:
    """Claims that the scan cannot see."""
    functions = "".join(f"def {name}():\n    return {name!r}\n" for name in names)
    return f"{functions}for function in ({', '.join(names)},):\n    gradcheck(args=())(function)\n"


@pytest.fixture
def several(repository: Any) -> list[Target]:
    """Modules of all kinds: long, short, with discoveries, with a crash, with an import that fails."""
    long = "".join(claim(f"f{n}", f"return {n}") for n in range(9))
    repository.write("long.py", LOG + long + loop("found", "again"))
    repository.write("short.py", LOG + claim("g", "print('seen'); return False") + loop("other"))
    repository.write("dies.py", LOG + claim("before", "return 2") + claim("dies", "os._exit(3)") + claim("after"))
    repository.write("broken.py", "import os\n" + claim("h") + "raise ValueError('no')\n")
    names = {"long": [f"f{n}" for n in range(9)], "short": ["g"], "dies": ["before", "dies", "after"], "broken": ["h"]}
    return [repository.target(f"{file}.py", name) for file, names in names.items() for name in names]


def told(reports: Sequence[TargetReport]) -> list[TargetReport]:
    return [replace(report, seconds=type(report.seconds)()) for report in reports]


@pytest.mark.parametrize("workers", [2, 3, 20])
def test_the_reports_do_not_depend_on_the_number_of_workers(
    repository: Any, several: list[Target], workers: int
) -> None:
    alone = repository.launch(*several)
    repository.messages.clear()
    together = repository.launch(*several, workers=workers)
    assert told(together.reports) == told(alone.reports)
    assert [report.target.qualname for report in together.reports[-3:]] == ["found", "again", "other"]
    assert len(together.reports) == len(several) + 3
    answered = [message.number for message in repository.messages if isinstance(message, Answered)]
    assert sorted(answered) == list(range(len(several) + 3))
    discovered = [message.job.target.qualname for message in repository.messages if isinstance(message, Discovered)]
    assert sorted(discovered) == ["again", "found", "other"]


def imports(repository: Any) -> dict[str, int]:
    """In how many processes each module was imported."""
    files = [path.name.split()[0] for path in (repository.root / "log").iterdir()]
    return {name: files.count(name) for name in files}


def test_a_module_is_imported_by_one_worker_where_there_are_enough(repository: Any) -> None:
    for n in range(4):
        repository.write(f"m{n}.py", LOG + claim("f") + claim("g"))
    targets = [repository.target(f"m{n}.py", name) for n in range(4) for name in ("f", "g")]
    assert len(repository.launch(*targets, workers=2).reports) == 8
    assert imports(repository) == dict.fromkeys(("m0", "m1", "m2", "m3"), 1)


@pytest.mark.parametrize(("targets", "workers", "processes"), [(2, 2, 2), (1, 4, 1), (3, "auto", 1)])
def test_one_module_for_several_workers(repository: Any, targets: int, workers: int | str, processes: int) -> None:
    wait = f"while len(list(LOG.iterdir())) < {processes}: pass"
    repository.write("m.py", LOG + "".join(claim(f"f{n}", wait) for n in range(targets)))
    found = repository.launch(*(repository.target("m.py", f"f{n}") for n in range(targets)), workers=workers)
    assert {str(report.verdict) for report in found.reports} == {"pass"}
    assert imports(repository) == {"m": processes}


def test_who_is_done_helps_the_others(repository: Any) -> None:
    """The first module is as long as the second by its number of targets, but all of it waits for a helper."""
    repository.write(
        "slow.py", LOG + "".join(claim(f"f{n}", "while len(list(LOG.iterdir())) < 3: pass") for n in range(9))
    )
    repository.write("fast.py", LOG + "".join(claim(f"f{n}") for n in range(9)))
    targets = [repository.target(f"{file}.py", f"f{n}") for file in ("slow", "fast") for n in range(9)]
    assert {str(r.verdict) for r in repository.launch(*targets, workers=2).reports} == {"pass"}
    assert imports(repository) == {"slow": 2, "fast": 1}


def test_recorded_times_balance_the_work(repository: Any) -> None:
    for name in ("a", "b", "c"):
        repository.write(f"{name}.py", LOG + claim("f", "return os.getpid()"))
    targets = [repository.target(f"{name}.py", "f") for name in ("a", "b", "c")]
    found = repository.launch(*targets, workers=2, times={"a:f": 1.0, "b:f": 1.0, "c:f": 9.0}).reports
    a, b, c = (report.outcomes[0].note for report in found)
    assert a == b != c


def test_an_import_that_dies_in_several_workers_is_told_once(repository: Any) -> None:
    repository.write("bad.py", claim("f") + claim("g") + "import os\nos._exit(5)\n")
    repository.launch(*(repository.target("bad.py", name) for name in ("f", "g")), workers=2)
    answered = [m for m in repository.messages if isinstance(m, Answered)]
    assert [m.report.findings[0].message for m in answered] == [
        "the process died while importing bad: exit status 5"
    ] * 2


def test_an_error_of_one_worker_ends_all(repository: Any, tmp_path: Path) -> None:
    repository.write("m.py", claim("f") + claim("g"))
    boot = tmp_path / "boot.py"
    boot.write_text(
        f"import sys, time\nsys.path.append({str(FAKE_BOOT.parents[1])!r})\n"
        "from gradhook.execution.signing import signer\n"
        "print(signer(sys.stdin.readline().strip())('hello'), flush=True)\ntime.sleep(60)\n"
    )
    start = time.monotonic()
    with pytest.raises(GradhookError, match="do not understand each other"):
        repository.launch(*(repository.target("m.py", name) for name in ("f", "g")), workers=2, boot=boot)
    assert time.monotonic() - start < 30


def test_nothing_is_begun_when_the_time_is_up(repository: Any) -> None:
    repository.write("m.py", LOG + claim("f") + claim("g"))
    targets = [repository.target("m.py", name) for name in ("f", "g")]
    found = repository.launch(*targets, until=time.monotonic()).reports
    assert [(r.verdict, r.findings[0].code, r.findings[0].message) for r in found] == [
        ("skip", "GRD912", "left out by the time budget")
    ] * 2
    assert not (repository.root / "log").exists()


def test_what_was_begun_in_time_is_finished(repository: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.write("m.py", claim("f") + claim("g"))

    def now() -> float:
        return float(any(isinstance(message, Began) and message.stage == "first" for message in repository.messages))

    monkeypatch.setattr(scheduling, "time", SimpleNamespace(monotonic=now))
    found = repository.launch(*(repository.target("m.py", name) for name in ("f", "g")), until=0.5).reports
    assert [str(report.verdict) for report in found] == ["pass", "skip"]
