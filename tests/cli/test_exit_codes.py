"""Does each way to end have the exit code that the design gives it?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gradhook.execution import session
from gradhook.model.errors import GradhookError

RULE = "@jax.custom_jvp\ndef unclaimed(x):\n    return x\n"


@pytest.mark.parametrize(
    ("names", "toml", "arguments", "code"),
    [
        (["good"], "", [], 0),
        (["good", "later"], "", [], 0),
        (["good", "bad"], "", [], 1),
        (["kink"], "", [], 1),
        (["kink"], "undecided = 'warn'", [], 0),
        (["kink", "bad"], "undecided = 'warn'", [], 1),
        (["kink"], "undecided = 'warn'", ["--undecided", "error"], 1),
        (["gone"], "", [], 2),
        (["gone", "bad"], "", [], 2),
        (["bad"], "", ["--exit-zero"], 0),
        (["bad"], "exit-zero = true", ["--no-exit-zero"], 1),
        (["gone"], "", ["--exit-zero"], 2),
        ([], "", [], 0),
        ([], "", ["--fail-on-empty"], 2),
        ([], "fail-on-empty = true", ["--exit-zero"], 2),
        (["bad", "good"], "", ["-k", "good"], 0),
    ],
)
@pytest.mark.usefixtures("verdicts")
def test_verdicts(gradhook, project, names: list[str], toml: str, arguments: list[str], code: int) -> None:
    project(*names, toml=f"[tool.gradhook]\n{toml}\n")
    assert gradhook("check", *arguments).code == code


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 0),
        (["--unclaimed", "error"], 1),
        (["--unclaimed", "ignore"], 0),
        (["--unclaimed", "error", "--exit-zero"], 0),
    ],
)
@pytest.mark.usefixtures("verdicts")
def test_rules_without_a_claim(gradhook, project, arguments: list[str], code: int) -> None:
    project("good", extra=RULE)
    said = gradhook("check", *arguments)
    assert said.code == code
    assert ("GRD501" in said.out) is ("ignore" not in arguments)


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--ignore", "GRD5"], 0), (["--select", "GRD1"], 0), (["--select", "GRD5"], 1)]
)
@pytest.mark.usefixtures("verdicts")
def test_what_is_not_asked_does_not_count(gradhook, project, arguments: list[str], code: int) -> None:
    project("good", extra=RULE)
    said = gradhook("check", "--unclaimed", "error", *arguments)
    assert said.code == code
    assert ("GRD501" in said.out) is bool(code)


@pytest.mark.usefixtures("verdicts")
def test_each_project_has_its_own_settings(gradhook, project) -> None:
    project("good", toml="[tool.gradhook]\n")
    project("kink", toml="[tool.gradhook]\nundecided = 'warn'\n", where="lenient")
    assert gradhook("check").code == 0
    project("kink", where="strict")
    assert gradhook("check").code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing command"),
        (["chekc"], "No such command"),
        (["check", "--colour"], "No such option"),
        (["check", "--output-format", "xml"], "Invalid value for '--output-format'"),
        (["check", "-"], "cannot read code from standard input"),
        (["check", "nowhere.py"], "there is no file or folder 'nowhere.py'\n  help: "),
        (["list", "nowhere"], "there is no file or folder 'nowhere'"),
        (["check", "x" * 5000], "there is no file or folder"),
        (["check", "--timeout", "soon"], "--timeout: timeout must be seconds from 0.1 to 604800, not 'soon'"),
        (["check", "--select", "GRD1,E5"], "--select: select must be rule codes"),
        (["check", "-k", "nobody"], "no target has 'nobody' in its name"),
        (["check", "-k", "good", "-k", "goood"], "no target has 'goood' in its name\n  help: did you mean 'good'?"),
        (["list", "-k", "good", "-k", "nobody"], "no target has 'nobody' in its name"),
        (["check", "-o", "nowhere/report.txt"], "there is no folder 'nowhere'"),
        (["check", "-o", "."], "is a directory"),
    ],
)
@pytest.mark.usefixtures("verdicts")
def test_wrong_usage(gradhook, project, arguments: list[str], words: str) -> None:
    project("good")
    said = gradhook(*arguments)
    assert said.code == 2
    assert said.out == ""
    assert words in said.err
    assert "Traceback" not in said.err


def test_all_errors_of_a_configuration_are_said(gradhook, project, monkeypatch: pytest.MonkeyPatch) -> None:
    project("good", toml="[tool.gradhook]\ntimout = 1\norder = 7\n")
    monkeypatch.setenv("GRADHOOK_SEED", "x")
    said = gradhook("check")
    assert said.code == 2
    assert said.err.splitlines()[:3] == [
        "gradhook: pyproject.toml:2: unknown key 'timout' in [tool.gradhook]; did you mean 'timeout'?",
        "gradhook: pyproject.toml:3: order must be 1 or 2, not 7",
        "gradhook: GRADHOOK_SEED: seed must be a whole number from 0 to 4294967295, not 'x'",
    ]


def failing(error: BaseException):
    def check(projects: object, **more: object) -> object:
        raise error

    return check


def test_an_error_for_the_user(gradhook, project, monkeypatch: pytest.MonkeyPatch) -> None:
    project("good")
    monkeypatch.setattr(session, "check", failing(GradhookError("no JAX; tried:\n  a\x1b[2J\nand b", "install it")))
    said = gradhook("check")
    assert (said.code, said.out) == (2, "")
    assert said.err == "gradhook: no JAX; tried:\n  a\\x1b[2J\ngradhook: and b\n  help: install it\n"


def test_our_own_crash_is_one_line(gradhook, project, monkeypatch: pytest.MonkeyPatch) -> None:
    project("good")
    monkeypatch.setattr(session, "check", failing(ZeroDivisionError("1/0\nand more")))
    said = gradhook("check")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "gradhook: internal error (ZeroDivisionError: 1/0); "
        "please report it with the traceback that GRADHOOK_DEBUG=1 shows\n"
    )
    monkeypatch.setenv("GRADHOOK_DEBUG", "1")
    assert "Traceback" in gradhook("check").err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), EOFError()])
def test_interrupted(gradhook, project, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    project("good")
    monkeypatch.setattr(session, "check", failing(error))
    said = gradhook("check")
    assert said.code == 130
    assert said.err.strip() == "gradhook: interrupted"


def process(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradhook", *arguments]
    environ = {**os.environ, "PYTHONPATH": str(Path(session.__file__).parents[2]), **more}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environ, check=False)


def test_the_process_itself(project) -> None:
    project("good")
    assert process("--version").stdout.startswith("gradhook ")
    assert process("list").returncode == 0
    assert process("check", "nowhere.py").returncode == 2
    assert process("check", "--exclude", "*.py", "--fail-on-empty").returncode == 2


def test_a_reader_that_goes_away_is_no_error(project) -> None:
    project(*(f"good_{n}" for n in range(3000)))
    command = f"{sys.executable} -m gradhook list | head -n 1; exit ${{PIPESTATUS[0]}}"
    environ = {**os.environ, "PYTHONPATH": str(Path(session.__file__).parents[2])}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environ, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_names_that_the_output_cannot_hold(project) -> None:
    project("größe")
    done = process("list", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "gr\\xf6\\xdfe" in done.stdout


def test_an_interrupt_from_outside(project) -> None:
    project(extra="import time\ntime.sleep(60)\n@gradcheck(args=(1.0,))\ndef f(x):\n    print('up', flush=True)\n")
    environ = {**os.environ, "PYTHONPATH": str(Path(session.__file__).parents[2])}
    running = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "waiting\n"
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert err.strip() == "gradhook: interrupted"


INTERRUPTED = """
import signal
from gradhook.execution import session
from gradhook.cli.main import main

def check(projects, **more):
    print("waiting", flush=True)
    signal.pause()

session.check = check
main(["check"])
"""


@pytest.mark.usefixtures("verdicts")
def test_the_json_report_stays_json_when_there_is_nothing(gradhook, project) -> None:
    project()
    said = gradhook("check", "--output-format", "json")
    assert json.loads(said.out)["targets"] == []
    assert said.err == "no annotated functions in 1 file\n"
