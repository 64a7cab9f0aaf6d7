"""Which target does ``gradhook explain`` mean, and does it tell the whole way from its inputs to its answers?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gradhook.model.results import Target

SOURCE = """
import jax
import jax.numpy as jnp
from gradhook import gradcheck, normal

@gradcheck(args=(normal(3),))
def smooth(x):
    return jnp.sum(jnp.sin(x))


class Model:
    @staticmethod
    @gradcheck(
        args=(1.0,),
    )
    def loss(x):
        return x * x

    @staticmethod
    @gradcheck(args=(1.0,))
    def smooth_loss(x):
        return x


@gradcheck(args=(2.0,))
@gradcheck(args=(-2.0,))
def twice(x):
    return abs(x)
"""


@pytest.fixture
def losses(tmp_path: Path) -> Path:
    (tmp_path / "losses.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def meant(losses: Path, gradhook, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """The names of the targets that a run would check."""
    from gradhook.execution import session
    from gradhook.model.report import Report

    asked: list[Target] = []

    def check(projects, **more) -> Report:
        assert more["account"]
        assert all(project.config.settings.curves for project in projects)
        asked[:] = [target for project in projects for target in project.targets]
        return Report(())

    monkeypatch.setattr(session, "check", check)

    def ask(*arguments: str) -> list[str]:
        asked.clear()
        said = gradhook("explain", *arguments)
        return [target.name for target in asked] if said.code == 0 else said.err.splitlines()

    return ask


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("losses:smooth", "losses:smooth"),
        ("smooth", "losses:smooth"),
        ("loss", "losses:Model.loss"),
        ("Model.loss", "losses:Model.loss"),
        ("th_lo", "losses:Model.smooth_loss"),
        ("losses.py:6", "losses:smooth"),
        ("losses.py:9", "losses:smooth"),
        ("./losses.py:15", "losses:Model.loss"),
        ("losses.py:999", "losses:twice"),
    ],
)
def test_one_target(meant, text: str, name: str) -> None:
    assert set(meant(text)) == {name}


def test_several_claims_about_one_function_are_told_together(meant) -> None:
    assert meant("twice") == ["losses:twice", "losses:twice"]


def test_paths_say_where_to_look(meant, losses: Path) -> None:
    (losses / "other.py").write_text(SOURCE, encoding="utf-8")
    assert meant("smooth", "other.py") == ["other:smooth"]
    assert meant("smooth") == [
        "gradhook: 'smooth' may be losses:smooth, other:smooth", "  help: name one of them",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["nothing", "losses.py:1", "nowhere.py:3"])
def test_no_target(meant, text: str) -> None:
    assert meant(text) == [
        f"gradhook: there is no target '{text}'", "  help: `gradhook list` shows names and places",
    ]  # fmt: skip


def test_the_whole_way(gradhook, losses: Path) -> None:
    pytest.importorskip("jax")
    said = gradhook("explain", "smooth", "losses.py", "--seed", "3")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "losses:smooth  exact claim  losses.py:7  pass"
    assert any(
        line.startswith("    x  float64[3]  normal(3)  differentiated, in the whole line, values") for line in lines
    )
    assert "  followed along 3 single inputs and 2 directions that move all of 3; seed 3" in lines
    assert sum("step        difference   minus the claim" in line for line in lines) >= 1
    assert any(line.startswith("    GRD104  skip       the function has no custom rule") for line in lines)


def test_for_programs(gradhook, losses: Path) -> None:
    pytest.importorskip("jax")
    said = gradhook("explain", "losses.py:13", "--output-format", "json")
    (item,) = json.loads(said.out)
    assert (item["target"], item["verdict"]) == ("losses:Model.loss", "pass")
    assert [c["what"] for c in item["cases"][0]["comparisons"]] == ["forward mode", "reverse mode"]
    assert item["cases"][0]["comparisons"][0]["curve"]["steps"]
