"""The boot of a worker that calls each target and says what came out, and on which line it stands: no JAX is loaded.

The verdict follows from the value, so that edits turn it. What names a line, and what names none, both occur.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])

from gradhook.execution.worker import boot, requests  # noqa: E402
from gradhook.model.results import CheckSettings, Finding, Outcome, OutcomeUpdate, Target, TargetReport, Verdict  # noqa: E402

del sys.path[0]
VERDICTS = (Verdict.PASS, Verdict.FAIL, Verdict.PASS, Verdict.UNDECIDED, Verdict.PASS)


def examine(
    subject: Any,
    target: Target,
    options: Mapping[str, Any],
    settings: CheckSettings,
    announce: Callable[[str | OutcomeUpdate], None],
) -> TargetReport:
    """The value, under these settings, as a verdict."""
    announce("only")
    value = float(subject(*options.get("args", ())))
    verdict = VERDICTS[int(abs(value) * 8) % len(VERDICTS)]
    note = f"{value!r} at rtol {settings.rtol!r}"
    outcome = Outcome("GRD101", verdict, case="only", note=note)
    if verdict is Verdict.PASS:
        return TargetReport(target, verdict, (outcome,))
    line = subject.__code__.co_firstlineno if hasattr(subject, "__code__") else None
    finding = Finding("GRD101", verdict, f"{note} on line {line}", path=target.path, line=line)
    return TargetReport(target, verdict, (outcome,), (finding,))


def environment() -> Mapping[str, Any]:
    """What the answers were found on."""
    return {"examiner": "value", "prefix": sys.prefix}


if __name__ == "__main__":
    boot.serve(lambda request, send, receive: requests.main(request, send, receive, lambda: (examine, environment)))
