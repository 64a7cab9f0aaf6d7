"""Are jobs that nobody asked about left alone, though their claims are known?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gradhook.execution.supervisor.pool import launch
from gradhook.model.protocol import Answered, Discovered, Job, Request

BOOT = Path(__file__).parents[1] / "fake_boot.py"


def test_only_what_was_asked_is_answered_and_nothing_is_discovered(repository: Any) -> None:
    lines = [f"@gradcheck(args=({n}.0,))  # f{n}\ndef f{n}(x):\n    return x\n" for n in range(4)]
    repository.write("m.py", "\n".join(lines))
    jobs = tuple(Job(n, repository.target("m.py", f"f{n}")) for n in range(4))
    request = Request(str(repository.root), (str(repository.root),), jobs, skip=(0, 2))
    said: list[Any] = []
    launched = launch(Path(sys.executable), request, timeout=20, on_message=said.append, boot=BOOT)
    assert [report.target.qualname for report in launched.reports] == ["f1", "f3"]
    assert [message.number for message in said if isinstance(message, Answered)] == [1, 3]
    assert not [message for message in said if isinstance(message, Discovered)]


def test_a_crash_at_import_answers_only_what_was_asked(repository: Any) -> None:
    lines = [f"@gradcheck(args=({n}.0,))  # f{n}\ndef f{n}(x):\n    return x\n" for n in range(3)]
    repository.write("m.py", "\n".join([*lines, "import os", "os._exit(3)"]))
    jobs = tuple(Job(n, repository.target("m.py", f"f{n}")) for n in range(3))
    request = Request(str(repository.root), (str(repository.root),), jobs, skip=(0,))
    launched = launch(Path(sys.executable), request, timeout=20, boot=BOOT)
    assert [report.target.qualname for report in launched.reports] == ["f1", "f2"]
    assert {report.verdict for report in launched.reports} == {"error"}
