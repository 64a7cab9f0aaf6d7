"""Are claims items of pytest like any others, in real runs of pytest?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

import gradhook

FAKE_BOOT = Path(__file__).parents[1] / "fake_boot.py"
FAKE = f"""
from functools import partial
from pathlib import Path
from gradhook.execution import runner
runner.interactive_worker = partial(runner.interactive_worker, boot=Path({str(FAKE_BOOT)!r}))
"""
CLAIMS = """
import os
from pathlib import Path
from gradhook import gradcheck
(Path(__file__).parent / f"pid {os.getpid()}").touch()

@gradcheck(args=(1,))
@gradcheck(args=(2,))
def good(x):
    return x

@gradcheck(args=())
def bad():
    print("what bad printed")
    return Path("mended").exists()

@gradcheck(args=())
def dies():
    os._exit(3)

@gradcheck(args=(), slow=True)
def later():
    return False
"""
PLAIN = "import sys\ndef test_plain():\n    assert 'jax' not in sys.modules\n"
Pytest = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "pyproject.toml": "[tool.gradhook]\nslow = false\n", "conftest.py": FAKE, "src/claims.py": CLAIMS,
        "tests/test_plain.py": PLAIN, "src/nothing.py": "raise ImportError('never imported')\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(project: Path) -> Pytest:
    def call(
        *arguments: str, plugins: tuple[str, ...] = ("gradhook.pytest_plugin",)
    ) -> subprocess.CompletedProcess[str]:
        environ = {
            **{name: text for name, text in os.environ.items() if not name.startswith(("PYTEST_", "GRADHOOK_"))},
            "PYTHONPATH": str(Path(gradhook.__file__).parents[1]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "COLUMNS": "120",
        }
        words = [word for plugin in plugins for word in ("-p", plugin)]
        command = [sys.executable, "-m", "pytest", "-v", "--color=no", *words, *arguments]
        return subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, check=False)

    return call


def outcomes(text: str) -> dict[str, str]:
    """What came of each item, in either form of ``-v``."""
    plain = re.findall(r"^(\S+::\S+) ([A-Z]+)", text, re.MULTILINE)
    distributed = re.findall(r"^\[gw\d\] .*?([A-Z]+) (\S+::\S+)", text, re.MULTILINE)
    return {**dict(plain), **{name: said for said, name in distributed}}


EXPECTED = {
    "src/claims.py::gradhook:good": "PASSED",
    "src/claims.py::gradhook:good:2": "PASSED",
    "src/claims.py::gradhook:bad": "FAILED",
    "src/claims.py::gradhook:dies": "ERROR",
    "src/claims.py::gradhook:later": "SKIPPED",
    "tests/test_plain.py::test_plain": "PASSED",
}


def test_each_verdict_has_its_outcome(run: Pytest, project: Path) -> None:
    done = run("--gradhook", "-rs", "--junitxml", "junit.xml")
    assert outcomes(done.stdout) == EXPECTED
    assert done.returncode == 1
    assert "FAIL      bad" in done.stdout and "what bad printed" in done.stdout and "Traceback" not in done.stdout
    assert "ERROR     dies  GRD906 the process died in case 'first': exit status 3" in done.stdout
    assert "GRD912 left out as slow" in done.stdout
    suite = ET.parse(project / "junit.xml").getroot()[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6", "failures": "1", "errors": "1", "skipped": "1",
    }  # fmt: skip


def test_a_worker_is_started_once_for_all_items(run: Pytest, project: Path) -> None:
    run("--gradhook", "-k", "gradhook and not dies")
    assert len(list((project / "src").glob("pid *"))) == 1


def test_distributed(run: Pytest, project: Path) -> None:
    pytest.importorskip("xdist")
    done = run("--gradhook", "-n", "2", plugins=("xdist", "gradhook.pytest_plugin"))
    assert outcomes(done.stdout) == EXPECTED
    assert "FAIL      bad" in done.stdout


def test_the_last_failed_again(run: Pytest, project: Path) -> None:
    run("--gradhook")
    again = outcomes(run("--gradhook", "--lf").stdout)
    assert again == {name: EXPECTED[name] for name in again} and set(again) == {
        "src/claims.py::gradhook:bad", "src/claims.py::gradhook:dies",
    }  # fmt: skip
    (project / "mended").touch()
    assert outcomes(run("--gradhook", "--lf").stdout)["src/claims.py::gradhook:bad"] == "PASSED"


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["src/claims.py::gradhook:bad"], {"bad"}),
        (["src", "-k", "good"], {"good", "good:2"}),
        (["-m", "gradhook and not slow", "-k", "bad"], {"bad"}),
        (["tests"], set()),
    ],
)
def test_items_are_chosen_as_usual(run: Pytest, arguments: list[str], names: set[str]) -> None:
    found = outcomes(run("--gradhook", *arguments).stdout)
    assert {name.partition("gradhook:")[2] for name in found if "gradhook:" in name} == names


def test_nothing_is_loaded_without_the_option(run: Pytest, project: Path) -> None:
    (project / "conftest.py").unlink()
    (project / "tests" / "test_plain.py").write_text(
        "import sys\ndef test_plain():\n"
        "    found = {name for name in sys.modules if name.partition('.')[0] == 'gradhook'}\n"
        "    light = {'gradhook', 'gradhook.pytest_plugin', 'gradhook.annotations', 'gradhook.annotations.inputs'}\n"
        "    assert found <= light\n",
        encoding="utf-8",
    )
    done = run()
    assert outcomes(done.stdout) == {"tests/test_plain.py::test_plain": "PASSED"}


def test_it_can_be_switched_off(run: Pytest, project: Path) -> None:
    done = run("-p", "no:gradhook.pytest_plugin", "tests")
    assert done.returncode == 0


def test_a_wrong_setting_is_a_wrong_usage(run: Pytest, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.gradhook]\ntimeuot = 1\n", encoding="utf-8")
    done = run("--gradhook")
    assert done.returncode == 4
    assert "unknown key 'timeuot'" in done.stderr and "Traceback" not in done.stderr


def test_claims_that_no_scan_sees_are_told_of(run: Pytest, project: Path) -> None:
    loop = "import math\nfrom gradhook import gradcheck\nfor f in (math.sin, math.cos):\n    gradcheck(args=(0,))(f)\n"
    (project / "src" / "claims.py").write_text(loop, encoding="utf-8")
    assert re.search("(sin|cos) is claimed where no scan sees it", run("--gradhook", "src").stdout)


def test_an_installed_gradhook_offers_it() -> None:
    project = tomllib.loads((Path(gradhook.__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {"gradhook": "gradhook.pytest_plugin"}


@pytest.mark.parametrize(("undecided", "outcome"), [("error", "FAILED"), ("warn", "SKIPPED")])
def test_undecided_with_jax(run: Pytest, project: Path, undecided: str, outcome: str) -> None:
    pytest.importorskip("jax")
    (project / "conftest.py").unlink()
    (project / "pyproject.toml").write_text(f"[tool.gradhook]\nundecided = {undecided!r}\n", encoding="utf-8")
    (project / "src" / "claims.py").write_text(
        "import jax.numpy as jnp\nfrom gradhook import gradcheck\n\n"
        "@gradcheck(args=(0.0,))\ndef kink(x):\n    return jnp.abs(x)\n\n"
        "@gradcheck(args=(0.5,))\ndef right(x):\n    return jnp.sin(x)\n",
        encoding="utf-8",
    )
    done = run("--gradhook", "-rs")
    assert outcomes(done.stdout) == {
        "src/claims.py::gradhook:kink": outcome,
        "src/claims.py::gradhook:right": "PASSED",
        "tests/test_plain.py::test_plain": "PASSED",
    }
    assert "GRD401" in done.stdout
