"""The checked code sees nothing of the runner's; a report holds no variable but those of a list, and no array."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

RUNNERS = (
    "GITHUB_TOKEN", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY", "GITHUB_STATE", "GH_TOKEN",
    "GH_ENTERPRISE_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_CACHE_URL",
    "RUNNER_TEMP", "RUNNER_TOOL_CACHE", "INPUT_TOKEN",
)  # fmt: skip
USERS = ("HOME", "MY_API_KEY", "AWS_SECRET_ACCESS_KEY", "DATA", "LANG_SECRET")
SECRET = "hunter2"
FORMS = {
    "junit": "j.xml",
    "sarif": "s.json",
    "markdown": "m.md",
    "github": "g.txt",
    "concise": "c.txt",
    "terminal": "t",
}
SEES = """
import json, os
from gradhook import gradcheck
with open("seen.json", "w") as file:
    json.dump(dict(os.environ), file)

@gradcheck(args=(1.0,))
def f(x):
    return False
"""
ARRAYS = """
import jax, jax.numpy as jnp, numpy as np
from gradhook import gradcheck

DATA = np.linspace(0.123456, 0.987654, 40)

@gradcheck(args=(DATA,))
def wrong(x):
    return jnp.sum(x * jax.lax.stop_gradient(x) * jnp.asarray(DATA))

@gradcheck(args=(DATA,))
def raises(x):
    raise ValueError("no")
"""


def everything(checkout: Any, ended: Any) -> str:
    """All that a run has written."""
    files = [checkout.root / name for name in ("report.json", *FORMS.values())]
    return "".join([ended.out, ended.err, *(file.read_text(encoding="utf-8") for file in files)])


def reports() -> list[str]:
    return [word for form, file in FORMS.items() for word in ("--report", f"{form}={file}")]


@pytest.mark.skipif(sys.platform == "win32", reason="a worker without some of these variables does not start")
def test_no_variable_of_the_runner_reaches_the_code_and_none_a_report(checkout: Any) -> None:
    checkout.write(m_sees=SEES)
    secrets = {name: f"{SECRET}-{name}" for name in (*RUNNERS, *USERS)}
    ended = checkout.check("-v", *reports(), **secrets)
    seen = json.loads((checkout.root / "seen.json").read_text(encoding="utf-8"))
    assert not [name for name in seen if name.startswith(("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "GH_"))]
    assert {name: seen.get(name) for name in USERS} == {name: secrets[name] for name in USERS}
    assert ended.code == 1
    light = ended.report["environment"].pop("variables")  # what the light examiner shows on purpose
    assert SECRET in str(light)
    assert SECRET not in everything(checkout, ended).replace(secrets["HOME"], "")


def test_no_variable_and_no_array_is_in_a_report(checkout: Any) -> None:
    numpy = pytest.importorskip("numpy")
    pytest.importorskip("jax")
    checkout.write(m_arrays=ARRAYS)
    (checkout.root / "a_innocent.py").unlink()
    (checkout.root / "z_innocent.py").unlink()
    secrets = {name: f"{SECRET}-{name}" for name in (*RUNNERS, *USERS)}
    ended = checkout.check("-v", *reports(), "--timeout", "120", jax=True, **secrets, XLA_FLAGS="")
    assert ended.verdicts == {"m_arrays:wrong": "fail", "m_arrays:raises": "error"}
    text = everything(checkout, ended)
    assert SECRET not in text
    assert set(ended.report["environment"]["variables"]) <= {"XLA_FLAGS", "JAX_PLATFORMS"}
    data = numpy.linspace(0.123456, 0.987654, 40)
    shown = [value for value in data if f"{value:.5f}"[:7] in text]
    assert len(shown) <= 4, "single numbers may be quoted, and no array"
