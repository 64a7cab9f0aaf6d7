"""The step of a GitHub workflow: its inputs, its base revision, and what it shows.

``actions/checkout`` takes GitHub's trial merge of a pull request, whose first parent is the base; a workflow that
checks out the head instead finds the base in the event. A clone of depth 1 has neither.

The inputs come as variables ``GRADHOOK_IN_…``. All that is printed stands between two lines that keep the runner from
reading commands in it; outputs, summary and annotations are written before the exit code ends the step.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import click

from gradhook.cli.exit_codes import COULD_NOT_RUN
from gradhook.model.errors import GradhookError
from gradhook.projects.baseline.revision import commit_of
from gradhook.reporters import github_annotations as marks
from gradhook.reporters import github_commands, github_summary

AUTO, NONE = "auto", "none"
_EVENTS = frozenset({"pull_request", "pull_request_target"})
BASE_MISSING = (
    "the base of this pull request is not in this clone, so its claims were not compared with those of the base, and "
    "the configuration was the pull request's own: give actions/checkout `fetch-depth: 2`, or say `against: none`"
)


def base_revision(wanted: str, environ: Mapping[str, str], here: Path) -> tuple[str | None, str]:
    """The revision to compare with, and a warning or ""; ``wanted`` is the input ``against``."""
    if wanted not in ("", AUTO):
        return (None if wanted == NONE else wanted), ""
    if environ.get("GITHUB_EVENT_NAME") not in _EVENTS:
        return None, ""
    found = _base(environ, here)
    return found, "" if found else BASE_MISSING


def _base(environ: Mapping[str, str], here: Path) -> str | None:
    is_trial = commit_of("HEAD", here) == environ.get("GITHUB_SHA") and commit_of("HEAD^2", here)
    if is_trial:
        return "HEAD^1" if commit_of("HEAD^1", here) else None
    named = _base_from_event(environ)
    return named if named and commit_of(named, here) else None


def _base_from_event(environ: Mapping[str, str]) -> str | None:
    """The base that the event names."""
    try:
        event = json.loads(Path(environ.get("GITHUB_EVENT_PATH") or "").read_text(encoding="utf-8"))
        return str(event["pull_request"]["base"]["sha"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


_PREFIX = "GRADHOOK_IN_"
_OPTIONS = ("python", "shard", "undecided", "advice", "unclaimed", "weakened")
_VERDICTS = ("pass", "fail", "undecided", "error", "skip", "advice")
_SWITCH = {"true": True, "false": False}


def run_step() -> int:
    """Check what the inputs name and show it; the exit code of ``gradhook check``."""
    folder = Path(tempfile.mkdtemp(prefix="gradhook-", dir=os.environ.get("RUNNER_TEMP")))
    code, text, files = _run_check(folder)
    sys.stdout.write(github_commands.stop_commands(text, secrets.token_hex(16)))
    document = _document(files.get("json"))
    if document is None:
        _write_failure(text, folder)
    if complaint := base_revision(_input("against", os.environ), os.environ, Path.cwd())[1]:
        sys.stdout.write(github_commands.command("warning", {"title": "gradhook"}, complaint) + "\n")
    _show(folder)
    _write_outputs({**_counts(document), "exit-code": str(code), **_paths(files)})
    return code


def check_arguments(environ: Mapping[str, str], folder: Path) -> tuple[list[str], dict[str, Path]]:
    """The arguments of ``gradhook check`` that the inputs come to, and its output files, by format.

    Raises:
        GradhookError: a switch is neither true nor false.
    """
    files = _files(environ, folder)
    words = ["--color", "never", "--fail-on-empty" if _is_on("fail-on-empty", environ) else "--no-fail-on-empty"]
    for name in _OPTIONS:
        words += [f"--{name}", value] if (value := _input(name, environ)) else []
    if base := base_revision(_input("against", environ), environ, Path.cwd())[0]:
        words += ["--against", base, "--config-from", base]
    for form, path in files.items():
        words += ["--report", f"{form}={path}"]
    return [*words, *_lines("args", environ), "--", *_lines("paths", environ)], files


def _files(environ: Mapping[str, str], folder: Path) -> dict[str, Path]:
    named = {"json": "report", "sarif": "sarif", "junit": "junit"}
    files = {form: Path(value).absolute() for form, name in named.items() if (value := _input(name, environ))}
    files.setdefault("json", folder / "report.json")
    if _is_on("summary", environ):
        files["markdown"] = folder / "summary.md"
    if _is_on("annotations", environ):
        files["github"] = folder / "annotations.txt"
    return files


def _run_check(folder: Path) -> tuple[int, str, dict[str, Path]]:
    """The exit code, all that was printed, and the files."""
    from gradhook.cli.main import run  # lazily: main imports this command

    printed = io.StringIO()
    files: dict[str, Path] = {}
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            words, files = check_arguments(os.environ, folder)
            for path in files.values():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)  # what an earlier step left is not our report
        except (GradhookError, OSError) as error:
            click.echo(f"gradhook: {error}", err=True)
            return COULD_NOT_RUN, printed.getvalue(), files
        code = run(["check", *words])
    return code, printed.getvalue(), files


def _document(path: Path | None) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path else None
    except (OSError, ValueError):
        return None
    return found


def _write_failure(text: str, folder: Path) -> None:
    """There is no report: what was printed is all that there is to show."""
    (folder / "summary.md").write_text(github_summary.failure_page(text), encoding="utf-8", errors="backslashreplace")
    (folder / "annotations.txt").write_text(marks.failure_annotation(text.strip()), encoding="utf-8")


def _show(folder: Path) -> None:
    if (commands := folder / "annotations.txt").is_file():
        sys.stdout.write(commands.read_text(encoding="utf-8"))
    sys.stdout.flush()
    page, target = folder / "summary.md", os.environ.get("GITHUB_STEP_SUMMARY")
    if page.is_file() and target:
        with Path(target).open("ab") as file:
            file.write(page.read_bytes())


def _counts(document: dict[str, Any] | None) -> dict[str, str]:
    """The outputs for later steps."""
    counts = document["counts"] if document else dict.fromkeys(_VERDICTS, 0)
    unclaimed = [n for n in document["notices"] if n["code"] == "GRD501"] if document else []
    return {
        "verdict": document["verdict"] if document else "error",
        "checks": str(sum(counts[verdict] for verdict in _VERDICTS if verdict != "advice")),
        "passed": str(counts["pass"]),
        "failed": str(counts["fail"]),
        "undecided": str(counts["undecided"]),
        "advice": str(counts["advice"]),
        "errors": str(counts["error"]),
        "skipped": str(counts["skip"]),
        "unclaimed": str(len(unclaimed)),
        "weakened": str(len(document.get("against") or ()) if document else 0),
    }


def _paths(files: Mapping[str, Path]) -> dict[str, str]:
    """The files that were written; an empty text for those that were not."""
    outputs = {"report": "json", "sarif": "sarif", "junit": "junit"}
    written = {form: str(path) for form, path in files.items() if path.is_file()}
    return {name: written.get(form, "") for name, form in outputs.items()}


def _write_outputs(values: Mapping[str, str]) -> None:
    if target := os.environ.get("GITHUB_OUTPUT"):
        text = github_commands.outputs(values, {name: f"gradhook_{secrets.token_hex(16)}" for name in values})
        with Path(target).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)


def _input(name: str, environ: Mapping[str, str]) -> str:
    return environ.get(_PREFIX + name.upper().replace("-", "_"), "").strip()


def _lines(name: str, environ: Mapping[str, str]) -> list[str]:
    return [line.strip() for line in _input(name, environ).splitlines() if line.strip()]


def _is_on(name: str, environ: Mapping[str, str]) -> bool:
    """Inputs are text: what is neither true nor false is a mistake that must not pass for one of them."""
    value = _input(name, environ) or "true"
    if value not in _SWITCH:
        raise GradhookError(f"the input {name} must be true or false, not {value!r}")
    return _SWITCH[value]
