"""gradhook whole, with workers whose examiner needs no JAX: what is asked here is what becomes of the processes.

``python light.py check …`` is ``python -m gradhook check …``; run as the boot of a worker (it gets no arguments), it is
that worker. The claim of a target is that its function, called with its arguments, returns something true.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
sys.path[0] = str(HERE.parents[2])

from gradhook.model.results import CheckSettings, Finding, Outcome, Target, TargetReport, Verdict  # noqa: E402

del sys.path[0]


def examine(
    subject: Any,
    target: Target,
    options: Mapping[str, Any],
    settings: CheckSettings,
    announce: Callable[[str], None],
) -> TargetReport:
    cases = options.get("cases") or {"args": options.get("args", ())}
    outcomes = [_asked(subject, args, name, announce) for name, args in cases.items()]
    wrong = tuple(Finding("GRD101", Verdict.FAIL, "not true", case=o.case) for o in outcomes if o.verdict == "fail")
    return TargetReport(target, Verdict.FAIL if wrong else Verdict.PASS, tuple(outcomes), wrong)


def _asked(subject: Any, args: Any, name: str, announce: Callable[[str], None]) -> Outcome:
    announce(name)
    verdict = Verdict.PASS if subject(*(args() if callable(args) else args)) else Verdict.FAIL
    return Outcome("GRD101", verdict, case=name)


def environment() -> Mapping[str, Any]:
    names = ("HOME", "LIGHT_VISIBLE")
    return {"examiner": "light", "variables": {name: os.environ[name] for name in names if name in os.environ}}


def as_worker() -> None:
    from gradhook.execution.worker import boot, requests

    boot.serve(lambda request, send, receive: requests.main(request, send, receive, lambda: (examine, environment)))


def as_command() -> None:
    from functools import partial

    from gradhook.cli.main import main
    from gradhook.execution import runner
    from gradhook.execution.supervisor.pool import launch

    runner.launch = partial(launch, boot=HERE)  # type: ignore[assignment]
    main()


if __name__ == "__main__":
    as_command() if len(sys.argv) > 1 else as_worker()
