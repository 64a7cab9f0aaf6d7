"""Advice in real runs: exit codes, the configured claims, the cache, pytest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gradhook

pytest.importorskip("jax")
SPIKES = """
import jax
import jax.numpy as jnp
from gradhook import surrogate, normal

def heaviside(x):
    return (x > 0).astype(x.dtype)

def slope(primals, tangents):
    return tangents[0] / (1 + 25 * jnp.abs(primals[0])) ** 2

def superspike():
    @jax.custom_gradient
    def spike(x):
        return heaviside(x), lambda g: g / (1 + 25 * jnp.abs(x)) ** 2
    return spike

"""
CALL = "spike = surrogate(forward=heaviside, rule=slope, args=(normal(6),){more})(superspike())\n"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    environ = {name: text for name, text in os.environ.items() if not name.startswith(("GRADHOOK_", "PYTEST_", "CI"))}
    environ |= {"PYTHONPATH": str(Path(gradhook.__file__).parents[1]), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def call(module: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", module, *words]
        env = {**environ, "GRADHOOK_PYTHON": sys.executable, **more}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    return call


def written(folder: Path, toml: str = "", more: str = "") -> None:
    (folder / "spikes.py").write_text(SPIKES + CALL.replace("{more}", more), encoding="utf-8")
    (folder / "pyproject.toml").write_text(toml, encoding="utf-8")


def test_a_rule_as_spyx_writes_it_passes_with_advice_and_from_the_cache_too(run: Run, tmp_path: Path) -> None:
    written(tmp_path)
    for said in ("", "1 cached"):
        done = run("gradhook", "check", "--output-format", "terminal")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 passed (1 surrogate" in done.stdout and said in done.stdout
        assert "advice, beyond what is claimed\n  spikes.py:" in done.stdout and "GRD206" in done.stdout
    assert run("gradhook", "check", "--advice", "error").returncode == 1
    assert run("gradhook", "check", GRADHOOK_ADVICE="GRD206:error").returncode == 1
    done = run("gradhook", "check", "--advice", "GRD206:warn", GRADHOOK_ADVICE="error")
    assert done.returncode == 0 and "1 advice" in done.stdout
    done = run("gradhook", "check", "--advice", "ignore")
    assert done.returncode == 0 and "1 finding ignored: GRD206 by advice (--advice)" in done.stdout
    merged = _merged(run, tmp_path)
    assert merged.returncode == 0 and "GRD206" in merged.stdout


def _merged(run: Run, folder: Path) -> subprocess.CompletedProcess[str]:
    run("gradhook", "check", "--report", "json=part.json")
    assert json.loads((folder / "part.json").read_text(encoding="utf-8"))["counts"]["advice"] == 1
    return run("gradhook", "merge", "part.json")


def test_a_claim_of_the_second_order_fails(run: Run, tmp_path: Path) -> None:
    written(tmp_path, more=", order2='zero'")
    done = run("gradhook", "check", "-q")
    assert done.returncode == 1 and "FAIL" in done.stdout and "lost at second order" in done.stdout


def test_the_configuration_claims_dtypes_and_shapes(run: Run, tmp_path: Path) -> None:
    text = (
        "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n@jax.custom_jvp\ndef f(x):\n    return jnp.sin(x)\n"
    )
    text += "\nf.defjvp(lambda p, t: (f(p[0]), np.float64(1.0) * jnp.cos(p[0]) * t[0]))\n"
    (tmp_path / "rules.py").write_text(text, encoding="utf-8")
    table = '[tool.gradhook.targets."rules:f"]\nargs = ["normal(3)"]\n'
    for more, code in (("", 0), ('dtypes = ["float32"]\n', 0), ('dtypes = ["bfloat16"]\nshapes = "any"\n', 1)):
        (tmp_path / "pyproject.toml").write_text(table + more, encoding="utf-8")
        done = run("gradhook", "check", "-q")
        assert (done.returncode, "for bfloat16" in done.stdout) == (code, True), done.stdout + done.stderr
    (tmp_path / "pyproject.toml").write_text(table + 'dtypes = ["int8"]\n', encoding="utf-8")
    done = run("gradhook", "check", "-q")
    assert done.returncode == 2 and "dtypes names some of float16, bfloat16" in " ".join(done.stdout.split())


def test_pytest_warns(run: Run, tmp_path: Path) -> None:
    written(tmp_path)
    words = ("-p", "gradhook.pytest_plugin", "--gradhook", "spikes.py", "-p", "no:cacheprovider")
    done = run("pytest", *words, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert done.returncode == 0 and "1 passed, 1 warning" in done.stdout, done.stdout + done.stderr
    assert "AdviceWarning: spikes:spike: GRD206" in " ".join(done.stdout.split())
