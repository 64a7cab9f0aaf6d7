"""Code under test that wants red to look green: what it says in gradhook's place is never believed."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from gradhook.execution.signing import ForgedError, new_key, signer, verifier
from gradhook.model.protocol import Answered, Began, encode
from gradhook.model.results import Outcome, TargetReport, Verdict

RED = """
@gradcheck(args=(2,))  # red
def red(x):
    return False
"""
FORGER = """
import json, os
LINES = {lines!r}
def forge():
    for descriptor in range(3, 1024):
        for line in LINES:
            try:
                os.write(descriptor, line.encode())
            except OSError:
                pass

@gradcheck(args=(2,))  # forger
def forger(x):
    forge()
    return False
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="descriptors of other processes")


def forged(repository: Any, *names: str) -> list[str]:
    """Lines that say that the first two targets of ``liar.py`` have passed."""
    repository.write("liar.py", FORGER.format(lines=[]) + RED)
    lines = []
    for number, name in enumerate(names):
        target = repository.target("liar.py", name)
        passed = TargetReport(target, Verdict.PASS, (Outcome("GRD101", Verdict.PASS, "first", note="forged"),))
        lines += [encode(Began(number, "start")) + "\n", encode(Answered(number, passed)) + "\n"]
    return lines


@pytest.mark.parametrize("start", ["\n", "", "x" * 100, "0" * 32 + " "])
def test_lines_on_every_descriptor(repository: Any, start: str) -> None:
    lines = [start + line for line in forged(repository, "forger", "red")]
    repository.write("liar.py", FORGER.format(lines=lines) + RED)
    repository.write("good.py", "@gradcheck(args=(2,))  # double\ndef double(x): return 2 * x\n")
    targets = [repository.target("liar.py", name) for name in ("forger", "red")]
    launched = repository.launch(*targets, repository.target("good.py", "double"))
    liar, red, good = launched.reports
    assert (liar.verdict, liar.findings[0].code) == (Verdict.ERROR, "GRD911")
    assert (red.verdict, good.verdict) == (Verdict.FAIL, Verdict.PASS)


def test_lines_at_import(repository: Any) -> None:
    lines = forged(repository, "forger", "red")
    repository.write("liar.py", FORGER.format(lines=lines) + RED + "forge()\n")
    targets = [repository.target("liar.py", name) for name in ("forger", "red")]
    assert [(r.verdict, r.findings[0].code) for r in repository.launch(*targets).reports] == [
        (Verdict.ERROR, "GRD911")
    ] * 2


@posix
def test_a_line_of_ours_said_again(repository: Any) -> None:
    """A thief reads the pipe that it writes to, and says what it read a second time."""
    steal = """
import os, threading
def steal(descriptor):
    try:
        with open(f"/proc/self/fd/{descriptor}", "rb") as pipe:
            stolen = pipe.readline()
            os.write(descriptor, stolen + stolen)
    except OSError:
        pass
@gradcheck(args=())  # thief
def thief():
    for descriptor in range(3, 1024):
        if os.path.exists(f"/proc/self/fd/{descriptor}"):
            threading.Thread(target=steal, args=(descriptor,), daemon=True).start()
    return True
"""
    repository.write("thief.py", steal + RED)
    launched = repository.launch(*(repository.target("thief.py", name) for name in ("thief", "red")))
    assert launched.reports[1].verdict in (Verdict.FAIL, Verdict.ERROR)


@pytest.mark.parametrize(
    "patch",
    [
        "import gradhook.execution.worker.requests as m; m.stopped = lambda *a: None",
        "import gradhook.model.results as m; m.Verdict = None",
        "import gradhook.model.results as m; m.worst = lambda verdicts: m.Verdict.PASS",
        "import gradhook.model.results as m; m.TargetReport.__init__ = lambda *a, **k: None",
        "import gradhook.model.protocol as m; m.encode.__code__ = (lambda message: '').__code__",
        "import gradhook.model.protocol as m; del m.to_json",
    ],
)
def test_our_code_changed_by_a_function(repository: Any, patch: str) -> None:
    repository.write("liar.py", f"@gradcheck(args=())  # liar\ndef liar():\n    {patch}\n    return True\n{RED}")
    launched = repository.launch(*(repository.target("liar.py", name) for name in ("liar", "red")))
    liar, red = launched.reports
    assert (liar.verdict, liar.findings[0].code, red.verdict) == (Verdict.ERROR, "GRD910", Verdict.FAIL)


def test_our_code_changed_by_an_import(repository: Any) -> None:
    patch = "import gradhook.model.results as m\nm.worst = lambda verdicts: m.Verdict.PASS\n"
    repository.write("liar.py", patch + RED)
    repository.write("other.py", RED)
    launched = repository.launch(*(repository.target(f"{name}.py", "red") for name in ("liar", "other")))
    liar, other = launched.reports
    assert (liar.findings[0].code, other.verdict) == ("GRD910", Verdict.FAIL)


@posix
def test_children_do_not_get_the_descriptor_and_the_key_has_no_file(repository: Any) -> None:
    looks = """
import os, subprocess, sys
@gradcheck(args=())  # look
def look():
    count = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[3:])"
    child = subprocess.run([sys.executable, "-c", count], close_fds=False, capture_output=True, text=True).stdout
    ours = ("GRADHOOK_WORKER_MARK", "PYTEST_XDIST_TESTRUNUID")
    keys = [k for k, v in os.environ.items() if len(v) == 32 and k not in ours]
    left = os.path.exists(os.path.dirname(os.readlink("/proc/self/fd/2")))
    return left, child.strip(), sys.__stdin__.buffer.read(), keys
"""
    repository.write("look.py", looks)
    (report,) = repository.launch(repository.target("look.py", "look")).reports
    left, child, read, variables = eval(report.outcomes[0].note)
    assert not left
    assert len(json.loads(child)) <= 1 and read == b"" and not variables  # one: that of listdir itself


def test_a_fork_cannot_answer(repository: Any) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("no fork")
    forks = "import os\n@gradcheck(args=())  # forks\ndef forks():\n    return os.fork() == 0\n"
    repository.write("forks.py", forks + RED)
    launched = repository.launch(*(repository.target("forks.py", name) for name in ("forks", "red")))
    assert [report.verdict for report in launched.reports] == [Verdict.FAIL, Verdict.FAIL]


def test_seals() -> None:
    key = new_key()
    seal, opened = signer(key), verifier(key)
    first, second, third = seal("one"), seal("two"), seal("thrée")
    assert opened("said before") is None
    assert (opened(first), opened(second)) == ("one", "two")
    for wrong in (first, second, third[:-1], third.replace(" ", "  "), signer(new_key())("one"), "", "ü " + third):
        with pytest.raises(ForgedError):
            opened(wrong)
    assert opened(third) == "thrée"
