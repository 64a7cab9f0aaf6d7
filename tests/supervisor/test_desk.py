"""Jobs that are asked for one by one are answered one by one, whatever becomes of the worker meanwhile."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gradhook.execution.supervisor.pool import interactive_worker
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import Job, Request

FAKE_BOOT = Path(__file__).parents[1] / "fake_boot.py"
NAMES = ("first", "second", "dies")
CLAIMS = "import os\n" + "".join(
    f"@gradcheck(args=())  # {name}\ndef {name}():\n    return {value}\n"
    for name, value in zip(NAMES, ("os.getpid()", "os.getpid()", "os._exit(3)"), strict=True)
)


def at_the_desk(repository: Any, claims: str, **more: Any) -> Any:
    repository.write("m.py", claims)
    jobs = tuple(Job(number, repository.target("m.py", name)) for number, name in enumerate(NAMES))
    root = str(repository.root)
    return interactive_worker(Path(sys.executable), Request(root, (root,), jobs), timeout=20, boot=FAKE_BOOT, **more)


def note(report: Any) -> str:
    return report.findings[0].message if report.findings else report.outcomes[0].note


def test_one_worker_answers_when_asked(repository: Any) -> None:
    heard: list[object] = []
    with at_the_desk(repository, CLAIMS, on_message=heard.append) as ask:
        assert heard == []
        pids = {note(ask(number)) for number in (1, 0, 1)}
    assert len(pids) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(int(pids.pop()), 0)


def test_a_crash_is_one_answer(repository: Any) -> None:
    with at_the_desk(repository, CLAIMS) as ask:
        before, crash, after = note(ask(0)), note(ask(2)), note(ask(1))
    assert crash == "the process died in case 'first': exit status 3"
    assert before != after


def test_a_worker_that_ends_while_nobody_asks_is_replaced(repository: Any) -> None:
    ends = "import threading\nthreading.Timer(0.5, os._exit, (3,)).start() if not os.path.exists('once') else None\n"
    claims = CLAIMS.replace("import os\n", "import os\n" + ends + "open('once', 'w').close()\n", 1)
    with at_the_desk(repository, claims) as ask:
        before = note(ask(0))
        deadline = time.monotonic() + 20
        while Path(f"/proc/{before}/cmdline").exists() and time.monotonic() < deadline:
            if not Path(f"/proc/{before}/cmdline").read_bytes():
                break  # ended, and not yet waited for
            time.sleep(0.02)
        assert note(ask(1)) not in ("", before)


def test_an_interpreter_that_cannot_be_run_is_an_error_when_asked(repository: Any) -> None:
    nothing = repository.root / "no_python"
    asked = interactive_worker(nothing, Request(str(repository.root), (), ()), timeout=20, boot=FAKE_BOOT)
    with asked as ask, pytest.raises(GradhookError, match="cannot be run"):
        ask(0)
