"""The boot of a worker whose examiner needs no JAX: it calls the subject and says what came out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[1])

from gradhook.execution.worker import boot, requests  # noqa: E402
from gradhook.model.results import CheckSettings, Finding, Outcome, OutcomeUpdate, Target, TargetReport, Verdict  # noqa: E402

del sys.path[0]


def examine(
    subject: Any,
    target: Target,
    options: Mapping[str, Any],
    settings: CheckSettings,
    announce: Callable[[str | OutcomeUpdate], None],
) -> TargetReport:
    announce("first")
    if "asked before" in options.get(
        "cases", ()
    ):  # a question that finds something and one that does not, before the subject is called
        finding = Finding("GRD102", Verdict.FAIL, "wrong", case="first")
        announce(OutcomeUpdate(Outcome("GRD101", Verdict.PASS, "first"), ("GRD102", "GRD301", "GRD303")))
        announce(OutcomeUpdate(Outcome("GRD102", Verdict.FAIL, "first", (finding,)), ("GRD301", "GRD303")))
    only_type = settings.modes == ("type of the subject",)
    value = type(subject).__name__ if only_type else repr(subject(*options.get("args", ())))
    verdict = Verdict.FAIL if value == "False" else Verdict.PASS
    return TargetReport(target, verdict, outcomes=(Outcome("GRD101", verdict, case="first", note=value),))


def environment() -> Mapping[str, Any]:
    return {"examiner": "fake", "prefix": sys.prefix}


if __name__ == "__main__":
    boot.serve(lambda request, send, receive: requests.main(request, send, receive, lambda: (examine, environment)))
