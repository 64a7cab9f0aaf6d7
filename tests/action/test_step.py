"""What does the step do without a workflow around it: which inputs, files and exit codes?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from gradhook.cli.step import check_arguments
from gradhook.model.errors import GradhookError

SOURCE = Path(__file__).parents[2]


@dataclass(frozen=True)
class Step:
    code: int
    log: str
    outputs: dict[str, str]
    summary: str


Take = Callable[..., Step]


@pytest.fixture
def take(tmp_path: Path) -> Take:
    """Run the script of action.yml, as a runner would, in ``tmp_path/work``."""
    work = tmp_path / "work"
    work.mkdir()
    script = yaml.safe_load((SOURCE / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"][0]["run"]

    def run(path: str | None = None, **inputs: str) -> Step:
        output, summary = tmp_path / "output", tmp_path / "summary"
        environ = {
            "PATH": path or os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(tmp_path), "GITHUB_ACTION_PATH": str(SOURCE), "RUNNER_TEMP": str(tmp_path),
            "RUNNER_OS": "Linux",
            "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_SHA": "0123abc",
            **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_"))},
            **{f"GRADHOOK_IN_{name.upper()}": value for name, value in inputs.items()},
        }  # fmt: skip
        for file in (output, summary):
            file.write_text("", encoding="utf-8")
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script], cwd=work, env=environ, capture_output=True, text=True
        )
        assert done.stderr == ""
        return Step(done.returncode, done.stdout, _outputs(output.read_text("utf-8")), summary.read_text("utf-8"))

    return run


def _outputs(text: str) -> dict[str, str]:
    long = {
        name: value for name, _, value in re.findall(r"^([\w-]+)<<(\w+)\n(.*?)\n\2$", text, re.MULTILINE | re.DOTALL)
    }
    return long | dict(re.findall(r"^([\w-]+)=(.*)$", text, re.MULTILINE))


def test_nothing_annotated(take: Take, tmp_path: Path) -> None:
    (tmp_path / "work" / "m.py").write_text("x = 1\n", encoding="utf-8")
    step = take()
    assert (step.code, step.outputs["exit-code"], step.outputs["checks"]) == (2, "2", "0")
    assert step.summary.startswith("## gradhook: nothing checked\n")
    assert "| commit | `0123abc` |" in step.summary
    assert take(fail_on_empty="false").code == 0


def test_no_python_with_jax(take: Take, tmp_path: Path, environment: Callable[..., Path]) -> None:
    target = "from gradhook import gradcheck\n@gradcheck(args=(1.0,))\ndef f(x):\n    return x\n"
    (tmp_path / "work" / "m.py").write_text(target, encoding="utf-8")
    bare = environment(tmp_path / "bare", packages=False)
    step = take(python=str(bare / "bin" / "python"))
    assert (step.code, step.outputs["exit-code"], step.outputs["verdict"]) == (2, "2", "error")
    assert step.summary.startswith("## gradhook: could not run\n")
    assert "has no jax" in step.summary
    assert re.search(r"^::error title=gradhook could not run::.*has no jax", step.log, re.MULTILINE)


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"fail_on_empty": "yes"}, "must be true or false, not 'yes'"), ({"summary": "1"}, "must be true or false"),
        ({"shard": "0/2"}, "K/N"), ({"undecided": "maybe"}, "maybe"), ({"paths": "no/such"}, "no/such"),
        ({"args": "--no-such-option"}, "--no-such-option"), ({"paths": "--help"}, "'--help'"),
    ],
)  # fmt: skip
def test_wrong_inputs(take: Take, inputs: dict[str, str], says: str) -> None:
    step = take(**inputs)
    assert (step.code, step.outputs["exit-code"]) == (2, "2")
    assert says in step.log
    assert says.strip("'") in step.summary


def test_summary_and_annotations_can_be_left_out(take: Take) -> None:
    step = take(summary="false", annotations="false", fail_on_empty="false")
    assert (step.code, step.summary) == (0, "")


def test_an_old_python_is_told_what_to_do(take: Take, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("python", "python3"):
        (tools / name).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    (tools / "bash").symlink_to(shutil.which("bash") or "/bin/bash")
    step = take(path=str(tools))
    assert (step.code, step.outputs) == (2, {"exit-code": "2", "verdict": "error"})
    assert "needs Python 3.11 or newer" in step.log


def test_the_python_input_is_enough(take: Take, tmp_path: Path, environment: Callable[..., Path]) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "bash").symlink_to(shutil.which("bash") or "/bin/bash")
    job = environment(tmp_path / "job")
    assert take(path=str(tools), python=str(job / "bin" / "python"), fail_on_empty="false").code == 0


def test_a_job_without_click_gets_it_and_keeps_its_environment(
    take: Take, tmp_path: Path, environment: Callable[..., Path]
) -> None:
    bare = environment(tmp_path / "bare", packages=False)
    subprocess.run([bare / "bin" / "python", "-m", "ensurepip"], check=True, capture_output=True)
    before = sorted(bare.rglob("*"))
    tools = os.pathsep.join([str(bare / "bin"), "/usr/bin", "/bin"])
    step = take(path=tools, fail_on_empty="false")
    assert step.code == 0, step.log
    assert [path for path in sorted(bare.rglob("*")) if path not in before and path.suffix != ".pyc"
            and path.name != "__pycache__"] == []  # fmt: skip
    assert take(path=tools, fail_on_empty="false").code == 0


def test_the_command_line_of_the_inputs(tmp_path: Path) -> None:
    environ = {
        "GRADHOOK_IN_PATHS": "src\n  a file.py \n\n-odd", "GRADHOOK_IN_ARGS": "--timeout\n5",
        "GRADHOOK_IN_SHARD": "2/3",
        "GRADHOOK_IN_UNDECIDED": "warn", "GRADHOOK_IN_PYTHON": ".venv", "GRADHOOK_IN_SUMMARY": "false",
        "GRADHOOK_IN_ANNOTATIONS": "false", "GRADHOOK_IN_REPORT": str(tmp_path / "r.json"), "INPUT_PATHS": "not read",
    }  # fmt: skip
    words, files = check_arguments(environ, tmp_path)
    assert words == [
        "--color", "never", "--fail-on-empty", "--python", ".venv", "--shard", "2/3", "--undecided", "warn",
        "--report", f"json={tmp_path / 'r.json'}", "--timeout", "5", "--", "src", "a file.py", "-odd",
    ]  # fmt: skip
    assert files == {"json": tmp_path / "r.json"}
    with pytest.raises(GradhookError, match="summary must be true or false"):
        check_arguments({"GRADHOOK_IN_SUMMARY": "True"}, tmp_path)


def test_every_input_is_passed_and_read() -> None:
    action: Any = yaml.safe_load((SOURCE / "action.yml").read_text(encoding="utf-8"))
    passed = {value.split(".")[1].split()[0] for value in action["runs"]["steps"][0]["env"].values()}
    assert passed == set(action["inputs"]) - {"working-directory"}
    assert "inputs." not in action["runs"]["steps"][0]["run"]
    values = {found["value"] for found in action["outputs"].values()}
    assert values == {f"${{{{ steps.gradhook.outputs.{name} }}}}" for name in action["outputs"]}
