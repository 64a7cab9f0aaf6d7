"""Red is not made green by the code under test, nor by files that came with it, in runs of the real command."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leftovers are looked for in /proc")

HEAD = "import os, sys, json, threading, time\nfrom gradhook import gradcheck\n"
LIAR = "@gradcheck(args=(1.0,))\ndef liar(x):\n    {code}\n    return False\n"
GREEN = """
def green(name, number):
    place = {"path": "liar.py", "line": 0, "mark": 0, "root": os.getcwd()}
    target = {"module": "liar", "qualname": name, "claim": "exact", **place}
    report = {"target": target, "verdict": "pass", "outcomes": [], "findings": []}
    return json.dumps({"message": "Answered", "number": number, "report": report}) + "\\n"

def everywhere(text, low=3, high=1024):
    for number in range(low, high):
        try:
            os.write(number, text.encode())
        except OSError:
            pass

"""
TRIES = {
    "an answer about itself": "everywhere(green('liar', 2))",
    "answers about all": "everywhere(''.join(green(n, k) for n in ('right', 'wrong', 'liar') for k in range(6)))",
    "a line without an end": "everywhere(green('liar', 2)[:-1])",
    "a seal of zeros": "everywhere('0' * 32 + ' ' + green('liar', 2))",
    "the end": "everywhere(json.dumps({'message': 'Bye', 'rest': False}) + chr(10)); os._exit(0)",
    "from a thread": "threading.Thread(target=everywhere, args=(green('liar', 2),)).start(); time.sleep(0.3)",
    "from a fork": "pid = os.fork(); pid or (everywhere(green('liar', 2)), os._exit(0)); pid and os.waitpid(pid, 0)",
    "from a child": "import subprocess; subprocess.run([sys.executable, '-c', 'import os\\n'"
    "'for n in range(3, 400):\\n try: os.write(n, b\\\"x\\\\n\\\")\\n except OSError: pass'], close_fds=False)",
    "a judge of its own": "import gradhook.model.results as r; r.worst = lambda verdicts: r.Verdict.PASS",
    "an encoder of its own": "import gradhook.model.protocol; gradhook.model.protocol.encode = lambda m: '{}'",
    "another code for ours": (
        "import gradhook.model.protocol as p; p.to_json.__code__ = (lambda value: 'pass').__code__"
    ),
    "a report of its own": "json.dump({'schema': 1, 'verdict': 'pass'}, open('report.json', 'w'))",
}


def liar(code: str) -> str:
    return HEAD + GREEN + LIAR.format(code=code)


@pytest.mark.parametrize("attempt", TRIES)
def test_forged_answers(checkout: Any, tally: Callable[[str, int, int], None], attempt: str) -> None:
    checkout.write(liar=liar(TRIES[attempt]))
    ended = checkout.check()
    verdicts = dict(ended.verdicts)
    own = verdicts.pop("liar:liar")
    innocent = {f"{file}_innocent:{name}": v for file in "az" for name, v in (("right", "pass"), ("wrong", "fail"))}
    lost = int(own not in ("error", "fail")) + sum(verdicts.get(name) != verdict for name, verdict in innocent.items())
    tally("forged answers, patches and reports are not believed", 1 + len(innocent), lost)
    assert lost == 0, (own, verdicts)
    assert ended.code in (1, 2) and not ended.left


def test_what_is_committed_is_never_read(checkout: Any, tally: Callable[[str, int, int], None]) -> None:
    """Green reports under every likely name change nothing, and nothing of them comes out again."""
    green = {
        "schema": 1,
        "verdict": "pass",
        "exit_code": 0,
        "counts": {},
        "targets": [],
        "notices": [],
        "note": "committed",
    }
    names = ("report.json", "gradhook.json", "gradhook-report.json", ".gradhook.json", ".gradhook_cache/1/passed/x")
    for name in names:
        (checkout.root / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout.root / name).write_text(json.dumps(green))
    ended = checkout.check()
    tally("reports that came with the repository are not read", len(names), int(ended.code != 1))
    assert ended.code == 1 and ended.verdicts["a_innocent:wrong"] == "fail"
    assert "committed" not in ended.out + json.dumps(ended.report)
