"""Whatever user code does to the process, every job gets its answer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradhook.model.errors import GradhookError
from gradhook.model.protocol import Answered, Began, Job, Request, encode
from gradhook.model.results import Verdict

FAKE_BOOT = Path(__file__).parents[1] / "fake_boot.py"
GOOD = """
@gradcheck(args=(2,))  # double
def double(x):
    return 2 * x
"""
SEALED = f"""import sys
sys.path.append({str(FAKE_BOOT.parents[1])!r})
from gradhook.execution.signing import signer
seal = signer(sys.stdin.readline().strip())
def send(text): print(seal(text), flush=True)
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def test_answers_in_order_and_says_what_it_is_at(repository: Any, notes: Any) -> None:
    repository.write("good.py", GOOD)
    launched = repository.launch(repository.target("good.py", "double"))
    assert notes(launched) == ["4"]
    assert launched.environment["examiner"] == "fake"
    assert [m.stage for m in repository.messages if isinstance(m, Began)] == ["import", "start", "first"]


@pytest.mark.parametrize(
    "statement, message, line",
    [
        ("raise ValueError('boom\\nsecond line')", "the import failed: ValueError: boom", 2),
        ("raise SystemExit(3)", "the import failed: SystemExit: 3", 2),
        ("raise KeyboardInterrupt", "the import failed: KeyboardInterrupt", 2),
        ("def f(): f()\nf()", "the import failed: RecursionError: maximum recursion depth exceeded", 2),
        ("1 +", "the import failed: SyntaxError: invalid syntax", 2),
        ("import json; json.loads('{')", "the import failed: JSONDecodeError: Expecting property name", 2),
        ("class E(Exception):\n    __str__ = None\nraise E", "the import failed: E", 4),
    ],
)
def test_import_that_raises(repository: Any, notes: Any, statement: str, message: str, line: int) -> None:
    repository.write("bad.py", f"{statement}\n{GOOD}")
    repository.write("good.py", GOOD)
    launched = repository.launch(repository.target("bad.py", "double"), repository.target("good.py", "double"))
    bad, good = notes(launched)
    assert bad.startswith(f"GRD901 {message}")
    assert good == "4"
    finding = launched.reports[0].findings[0]
    assert (finding.path, finding.line, finding.verdict) == ("bad.py", line, Verdict.ERROR)


def test_missing_module_names_the_interpreter(repository: Any) -> None:
    repository.write("bad.py", f"import no_such_module_at_all\n{GOOD}")
    launched = repository.launch(repository.target("bad.py", "double"))
    help = launched.reports[0].findings[0].help
    assert sys.executable in help and "--python" in help and "GRADHOOK_PYTHON" in help


@pytest.mark.parametrize(
    "body, said",
    [
        ("raise SystemExit('out')", "GRD904 the function raised: SystemExit: out"),
        ("raise KeyboardInterrupt", "GRD904 the function raised: KeyboardInterrupt"),
        ("return recursive(x)", "GRD904 the function raised: RecursionError: maximum recursion depth exceeded"),
        ("import os; os._exit(7)", "GRD906 the process died in case 'first': exit status 7"),
        ("import os; os._exit(0)", "GRD906 the process died in case 'first': exit status 0"),
        pytest.param(
            "import ctypes; ctypes.string_at(0)",
            "GRD906 the process died in case 'first': signal SIGSEGV",
            marks=posix,
        ),
        pytest.param(
            "import os; os.kill(os.getpid(), 9)",
            "GRD906 the process died in case 'first': signal SIGKILL",
            marks=posix,
        ),
        ("import os; os.closerange(3, 999)", "GRD906 the process died in case 'first'"),
    ],
)
def test_one_target_does_not_take_the_others_along(repository: Any, notes: Any, body: str, said: str) -> None:
    bad = f"\n@gradcheck(args=(1,))  # recursive\ndef recursive(x):\n    {body}\n"
    repository.write("both.py", GOOD + bad + GOOD.replace("double", "again"))
    launched = repository.launch(*(repository.target("both.py", name) for name in ("double", "recursive", "again")))
    before, culprit, after = notes(launched)
    assert (before, after) == ("4", "4")
    assert culprit.startswith(said)


@posix
def test_a_crash_is_placed_on_the_user_s_line(repository: Any) -> None:
    repository.write(
        "bad.py",
        "def inner():\n    import ctypes\n    return ctypes.string_at(0)\n\n@gradcheck(args=())  # f\ndef f():\n"
        "    return inner()\n",
    )
    finding = repository.launch(repository.target("bad.py", "f")).reports[0].findings[0]
    assert (finding.code, finding.path, finding.line, finding.case) == ("GRD906", "bad.py", 4, "first")


@posix
def test_an_endless_loop_is_timed_out_where_it_hangs(repository: Any, notes: Any) -> None:
    repository.write("both.py", "@gradcheck(args=())  # f\ndef f():\n    while True:\n        pass\n" + GOOD)
    targets = [repository.target("both.py", name) for name in ("f", "double")]
    start = time.monotonic()
    launched = repository.launch(*targets, timeout=1.0)
    assert time.monotonic() - start < 10
    assert notes(launched) == ["GRD905 timed out after 1 s, in case 'first'", "4"]
    finding = launched.reports[0].findings[0]
    assert finding.path == "both.py" and finding.line in (4, 5) and "GRADHOOK_TIMEOUT" in finding.help


@posix
def test_a_target_that_runs_out_of_time_keeps_what_it_has_answered(repository: Any) -> None:
    code = "@gradcheck(args=(), cases={'asked before': ()})  # f\ndef f():\n    while True:\n        pass\n"
    repository.write("both.py", code)
    report = repository.launch(repository.target("both.py", "f"), timeout=1.0).reports[0]
    assert report.verdict is Verdict.ERROR
    assert [(o.code, o.verdict) for o in report.outcomes] == [
        ("GRD101", Verdict.PASS), ("GRD102", Verdict.FAIL), ("GRD905", Verdict.ERROR),
    ]  # fmt: skip
    assert [f.code for f in report.findings] == ["GRD905", "GRD102"]
    assert report.findings[0].message.endswith("in case 'first'; not answered there: GRD301, GRD303")


def test_an_import_that_dies_is_tried_once_for_all_its_targets(repository: Any, notes: Any) -> None:
    count = repository.root / "count"
    dies = f"import os\nwith open({str(count)!r}, 'a') as file:\n    file.write('x')\nos._exit(5)\n"
    repository.write("bad.py", dies + GOOD + GOOD.replace("double", "again"))
    repository.write("good.py", GOOD)
    targets = [repository.target("bad.py", name) for name in ("double", "again")]
    launched = repository.launch(*targets, repository.target("good.py", "double"))
    died = "GRD906 the process died while importing bad: exit status 5"
    assert notes(launched) == [died, died, "4"]
    assert count.read_text() == "x"


def test_an_import_that_hangs_is_timed_out(repository: Any, notes: Any) -> None:
    repository.write("bad.py", "while True: pass\n" + GOOD)
    repository.write("good.py", GOOD)
    targets = [repository.target(f"{name}.py", "double") for name in ("bad", "good")]
    launched = repository.launch(*targets, timeout=1.0)
    assert notes(launched) == ["GRD905 timed out after 1 s, while importing bad", "4"]


def test_output_is_kept_for_those_that_need_it(repository: Any) -> None:
    repository.write(
        "prints.py",
        "import os, sys\nprint('imported')\n"
        "@gradcheck(args=())  # good\ndef good():\n    print('quiet')\n"
        "@gradcheck(args=())  # bad\ndef bad():\n"
        "    print('x' * 100_000)\n    os.write(1, b'raw \\xff\\n')\n    os.system('echo child')\n"
        "    sys.stderr.write('err\\n')\n    return False\n"
        "@gradcheck(args=())  # last\ndef last():\n    print('the last')\n    return False\n",
    )
    launched = repository.launch(*(repository.target("prints.py", name) for name in ("good", "bad", "last")))
    good, bad, last = (report.output for report in launched.reports)
    assert good == ""
    assert bad.endswith("xxx\nraw \ufffd\nchild\nerr\n") and 3900 < len(bad) <= 4000
    assert last == "the last\n"


def test_output_of_c_code_is_kept_too(repository: Any) -> None:
    repository.write(
        "prints.py",
        "import ctypes\n@gradcheck(args=())  # f\ndef f():\n    ctypes.CDLL(None).puts(b'from C')\n    return False\n",
    )
    if sys.platform == "win32":
        pytest.skip("no C library by that name")
    assert repository.launch(repository.target("prints.py", "f")).reports[0].output == "from C\n"


def test_closed_streams_and_empty_standard_input(repository: Any, notes: Any) -> None:
    repository.write(
        "closes.py",
        "import os, sys\nsys.stdout.close()\nsys.stderr.close()\nos.close(1)\nos.close(2)\n"
        "@gradcheck(args=())  # f\ndef f():\n    return sys.stdin.read()\n",
    )
    assert notes(repository.launch(repository.target("closes.py", "f"))) == ["''"]


@posix
def test_a_fork_in_user_code_has_no_say(repository: Any, notes: Any) -> None:
    repository.write("forks.py", "import os\nos.fork()\n" + GOOD)
    assert notes(repository.launch(repository.target("forks.py", "double"))) == ["4"]
    assert sum(isinstance(m, Answered) for m in repository.messages) == 1


@posix
def test_nothing_is_left_running(repository: Any) -> None:
    repository.write(
        "starts.py",
        "import subprocess, sys\n@gradcheck(args=())  # f\ndef f():\n"
        "    print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).pid)\n    return False\n",
    )
    pid = int(repository.launch(repository.target("starts.py", "f")).reports[0].output)
    _wait_until(lambda: not _is_running(pid))


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc/self").exists()


@posix
def test_an_interrupt_ends_the_worker(repository: Any) -> None:
    repository.write(
        "starts.py", f"import os\nopen({str(repository.root / 'pid')!r}, 'w').write(str(os.getpid()))\n{GOOD}"
    )

    def interrupt(message: object) -> None:
        if isinstance(message, Began) and message.stage == "first":
            raise KeyboardInterrupt

    launched = repository.launch(repository.target("starts.py", "double"), on_message=interrupt)
    assert (launched.interrupted, launched.reports) == (True, ())
    assert not _is_running(int((repository.root / "pid").read_text()))


def test_a_worker_that_cannot_start_is_an_error_with_its_output(repository: Any, tmp_path: Path) -> None:
    repository.write("good.py", GOOD)
    boot = tmp_path / "boot.py"
    boot.write_text("import no_jax_here\n")
    with pytest.raises(GradhookError, match=r"died before it could start.*\n(.*\n)*.*no_jax_here"):
        repository.launch(repository.target("good.py", "double"), boot=boot)


def test_a_worker_that_says_nonsense_is_an_error(repository: Any, tmp_path: Path) -> None:
    repository.write("good.py", GOOD)
    boot = tmp_path / "boot.py"
    boot.write_text(f"{SEALED}send('hello')\n")
    with pytest.raises(GradhookError, match="do not understand each other"):
        repository.launch(repository.target("good.py", "double"), boot=boot)


def test_what_the_interpreter_prints_before_we_come_up_is_no_message(
    repository: Any, notes: Any, tmp_path: Path
) -> None:
    repository.write("good.py", GOOD)
    boot = tmp_path / "boot.py"
    boot.write_text(
        f"import runpy\nprint('hello', flush=True)\nrunpy.run_path({str(FAKE_BOOT)!r}, run_name='__main__')"
    )
    assert notes(repository.launch(repository.target("good.py", "double"), boot=boot)) == ["4"]


def test_no_job_is_lost_when_the_worker_says_bye_too_soon(repository: Any, notes: Any, tmp_path: Path) -> None:
    repository.write("good.py", GOOD)
    boot = tmp_path / "boot.py"
    boot.write_text(f"""{SEALED}send('{{"message": "Hello", "environment": {{}}}}')\nsend('{{"message": "Bye"}}')\n""")
    launched = repository.launch(repository.target("good.py", "double"), boot=boot)
    assert notes(launched) == ["GRD908 gradhook itself failed: the worker gave no answer about this target"]


def test_no_bytecode_of_user_code(repository: Any) -> None:
    repository.write("pkg/__init__.py", "")
    repository.write("pkg/good.py", GOOD)
    repository.launch(repository.target("pkg/good.py", "double", "pkg.good"))
    assert not list(repository.root.rglob("__pycache__"))


@posix
def test_a_worker_ends_with_a_parent_that_was_killed(repository: Any, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    repository.write(
        "bad.py", f"import os\nopen({str(pid)!r}, 'w').write(f'{{os.getpid()}}\\n')\nwhile True: pass\n{GOOD}"
    )
    target = repository.target("bad.py", "double")
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom gradhook.execution.supervisor.pool import launch\n"
        "from gradhook.model.protocol import decode\n"
        f"launch(Path(sys.executable), decode({encode(Request(target.root, (), (Job(0, target),)))!r}), timeout=60,"
        f" boot=Path({str(FAKE_BOOT)!r}))\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(FAKE_BOOT.parents[1])}
    parent = subprocess.Popen([sys.executable, str(script)], env=environ)
    try:
        _wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    finally:
        parent.kill()
        parent.wait()
    _wait_until(lambda: not _is_running(int(pid.read_text())))
