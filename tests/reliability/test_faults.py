"""Whatever user code does: the guilty is named, the others keep their verdicts, and nothing of it stays behind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leftovers are looked for in /proc")

INNOCENT = {f"{file}_innocent:{name}": verdict for file in "az" for name, verdict in
            (("right", "pass"), ("wrong", "fail"))}  # fmt: skip
FEELS = """
@gradcheck(args=(1.0,))
def feels(x):
    import importlib.util, os, signal, sys, warnings
    warnings.warn("this is not meant to end anything")
    depth = lambda n: n and depth(n - 1)
    depth(300)
    untouched = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL and sys.gettrace() is None
    return os.path.exists("pyproject.toml") and "PATH" in os.environ and untouched and not sys.stdout.closed \\
        and importlib.util.find_spec("wave") is not None and os.path.samestat(os.fstat(1), os.fstat(2))
"""
"""An innocent that would notice; one comes after each of the guilty."""
PLACES = {
    "import": "{code}\n@gradcheck(args=(1.0,))\ndef guilty(x):\n    return True\n",
    "args": "def args():\n    {code}\n    return (1.0,)\n\n@gradcheck(args=args)\ndef guilty(x):\n    return True\n",
    "function": "@gradcheck(args=(1.0,))\ndef guilty(x):\n    {code}\n    return True\n",
}
SETSID = "import subprocess; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], "
ENDS = {
    "raises": ("raise ValueError('boom')", "ValueError: boom"),
    "exits": ("sys.exit(0)", "SystemExit"),
    "leaves": ("os._exit(0)", "GRD906"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "GRD906"),
    "kills itself": ("os.kill(os.getpid(), 9)", "GRD906"),
    "recursion": ("f = lambda: f(); f()", "RecursionError"),
    "closes all descriptors": ("os.closerange(3, 999)", "GRD906"),
    "redirects our descriptor": ("[os.dup2(os.open(os.devnull, 1), n) for n in range(3, 400)]", "GRD906"),
}
"""What ends in an error: the code, and what its finding must say."""
LEAVES_VERDICT = {
    "closes the lower descriptors": "os.closerange(3, 99)",
    "closes output": "sys.stdout.close(); sys.stderr.close(); os.close(1); os.close(2)",
    "redirects output": "os.dup2(os.open('printed', os.O_WRONLY | os.O_CREAT), 1); sys.stdout = sys.stderr = None",
    "prints 100 MB": "[os.write(1, b'x' * 1_000_000) for _ in range(100)]; import_time.sleep(0.3)",
    "changes the folder": "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')",
    "changes sys.path": "sys.path.clear()",
    "changes the environment": "os.environ.clear()",
    "handles signals": "import signal; [signal.signal(n, signal.SIG_IGN) for n in (2, 10, 15)]; signal.alarm(1)",
    "lowers the recursion limit": "sys.setrecursionlimit(120)",
    "turns warnings into errors": "import warnings; warnings.simplefilter('error')",
    "traces": "sys.settrace(lambda f, *a: sys.exit(3) if 'innocent' in f.f_code.co_filename else None)",
    "forks a child that stays": "os.fork() or (import_time.sleep(600), os._exit(0))",
    "forks a child that runs on": "os.fork()",
    "starts a daemon": SETSID + "start_new_session=True)",
    "leaves a thread": "import threading; threading.Thread(target=import_time.sleep, args=(600,)).start()",
    "leaves a thread that exits": "import threading; threading.Timer(0.1, os._exit, (3,)).start()",
    "leaves a busy thread": "import threading; threading.Thread(target=spin, daemon=True).start()",
    "writes files": "open('written', 'w').write('x')",
}
"""What goes on, and has its own verdict."""
HEAD = "import os, sys\nimport time as import_time\nfrom gradhook import gradcheck\n\ndef spin():\n    while 1: 0\n\n"


def guilty(code: str, place: str) -> str:
    return HEAD + PLACES[place].format(code=code)


def stem(name: str, place: str) -> str:
    return f"m_{place}_{name.replace(' ', '_')}"


def compared(ended: Any, expected: dict[str, str]) -> tuple[int, int]:
    """How many verdicts there must be, and how many are missing or others."""
    return len(expected), sum(ended.verdicts.get(name) != verdict for name, verdict in expected.items())


@pytest.mark.parametrize("place", PLACES)
def test_what_ends_a_target_ends_no_other(checkout: Any, place: str, tally: Callable[..., None]) -> None:
    checkout.write(**{stem(name, place): guilty(code, place) for name, (code, _) in ENDS.items()})
    ended = checkout.check("--timeout", "30")
    names = {f"{stem(name, place)}:guilty": said for name, (_, said) in ENDS.items()}
    expected = {**INNOCENT, **dict.fromkeys(names, "error")}
    tally("what ends a target (at import, in args, in the function) ends no other", *compared(ended, expected))
    assert ended.verdicts == expected
    assert {n: ended.finding(n) for n, said in names.items() if said not in ended.finding(n)} == {}
    assert (ended.code, ended.left) == (2, ())


@pytest.mark.parametrize("place", PLACES)
def test_what_a_target_changes_changes_no_other(checkout: Any, place: str, tally: Callable[..., None]) -> None:
    names = [name for name in LEAVES_VERDICT if place != "import" or "thread that exits" not in name]
    checkout.write(**{stem(name, place): guilty(LEAVES_VERDICT[name], place) for name in names})
    checkout.write(**{f"{stem(name, place)}_then": f"from gradhook import gradcheck\n{FEELS}" for name in names})
    ended = checkout.check("--timeout", "30", "--jobs", "1")
    both = (f"{stem(name, place)}{end}" for name in names for end in (":guilty", "_then:feels"))
    expected = {**INNOCENT, **dict.fromkeys(both, "pass")}
    tally("what a target changes (at import, in args, in the function) changes no other", *compared(ended, expected))
    assert ended.verdicts == expected
    assert (ended.code, ended.left) == (1, ())


LIMIT = 2.0
ENDLESS = {
    "a loop": "while True: pass",
    "a loop that swallows": "\n    while True:\n        try: import_time.sleep(1)\n        except BaseException: pass",
    "a hang in C": "import ctypes; ctypes.PyDLL(None).sleep(600)",
    "signals blocked": "import signal; signal.pthread_sigmask(0, range(1, 65)); import_time.sleep(600)",
    "waits for its child": "os.waitpid(os.spawnlp(os.P_NOWAIT, 'sleep', 'sleep', '600'), 0)",
    "reads standard input and sleeps": "sys.stdin.read(); import_time.sleep(600)",
}


def test_what_never_ends_is_ended_in_time(checkout: Any, tally: Callable[..., None]) -> None:
    quick = checkout.check().seconds
    files = {stem(name, "function"): guilty(code, "function") for name, code in ENDLESS.items()}
    files[stem("a loop", "import")] = guilty("while True: pass", "import")
    files[stem("a loop", "args")] = guilty("while True: pass", "args")
    checkout.write(**files)
    ended = checkout.check("--timeout", str(LIMIT))
    expected = {**INNOCENT, **{f"{file}:guilty": "error" for file in files}}
    tally("what never ends (Python, C, compilation) is ended within its limit and 5 s", *compared(ended, expected))
    assert ended.verdicts == expected
    assert {file for file in files if not ended.finding(f"{file}:guilty").startswith("GRD905")} == set()
    assert (ended.code, ended.left) == (2, ())
    assert ended.seconds < quick + len(files) * (LIMIT + 5)


def test_memory_has_a_limit_if_one_wants(checkout: Any) -> None:
    hungry = "\n    kept = []\n    while True: kept.append(b'x' * 10_000_000); import_time.sleep(0.005)"
    checkout.write(
        b_takes=guilty("globals().update(kept=b'x' * 150_000_000); import_time.sleep(0.5)", "function"),
        c_takes=guilty("globals().update(kept=b'x' * 150_000_000); import_time.sleep(0.5)", "function"),
        m_hungry=guilty(hungry, "function"),
    )
    ended = checkout.check("--max-memory", "300", "--timeout", "60")
    taken = {"b_takes:guilty": "pass", "c_takes:guilty": "pass"}
    assert ended.verdicts == {**INNOCENT, **taken, "m_hungry:guilty": "error"}
    said = ended.finding("m_hungry:guilty")
    assert said == "GRD906 the process was ended in case 'args': it held more than 300 MB of memory"
    assert (ended.code, ended.left) == (2, ())


def test_output_without_end_does_not_fill_the_disk(checkout: Any) -> None:
    checkout.write(m_loud=guilty("\n    while True: os.write(2, b'x' * 1_000_000)", "function"))
    ended = checkout.check("--timeout", "100")
    assert ended.verdicts == {**INNOCENT, "m_loud:guilty": "error"}
    assert "had printed more than 1000 MB" in ended.finding("m_loud:guilty")
    assert (ended.code, ended.left) == (2, ())
