"""What a report says of the process that measured."""

from __future__ import annotations

import sys

import jax
import pytest

import gradhook
from gradhook.execution.worker.environment import environment


def test_what_the_numbers_rest_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "")
    monkeypatch.setenv("MY_SECRET", "do not tell")
    found = environment()
    assert found["gradhook"] == gradhook.__version__
    assert found["jax"] == jax.__version__
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert (found["platform"], found["x64"], found["devices"] >= 1) == ("cpu", True, True)
    assert "XLA_FLAGS" in found["variables"] and "MY_SECRET" not in str(found)


def test_float64_is_not_left_on() -> None:
    before = jax.config.jax_enable_x64
    environment()
    assert jax.config.jax_enable_x64 == before
