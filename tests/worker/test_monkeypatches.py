"""What user code replaces in JAX and NumPy is put back and named; what is added, or a library replaces, stays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from gradhook.execution.worker.isolation import originals, restore_originals


def function(file: str) -> Callable[[], str]:
    """A function that was written in a file."""
    space: dict[str, Any] = {}
    exec(compile("def made():\n    return __name__\n", file, "exec"), space)
    return space["made"]  # type: ignore[no-any-return]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A public module of NumPy's, which JAX stands on."""
    made = ModuleType("numpy.made_for_a_test")
    made.sin, made.cos, made.pi = function("/lib/numpy/a.py"), function("/lib/numpy/a.py"), 3.14  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


@pytest.mark.parametrize("new", [function("/home/me/project/m.py"), None, 3, "removed", "the other one"])
def test_what_is_replaced_is_put_back(module: Any, new: Any) -> None:
    known, sin = originals(), module.sin
    if new == "removed":
        del module.sin
    else:
        module.sin = module.cos if new == "the other one" else new
    assert restore_originals(known) == ["numpy.made_for_a_test.sin"]
    assert module.sin is sin
    assert restore_originals(known) == []


@pytest.mark.parametrize("file", ["/v/lib/python3.12/site-packages/shim/core.py"])
def test_what_a_library_replaces_belongs_to_the_environment(module: Any, file: str) -> None:
    known = originals()
    module.sin = theirs = function(file)
    assert (restore_originals(known), module.sin is theirs) == ([], True)


def test_a_wrapper_of_ones_own_around_the_true_function_is_replaced_all_the_same(module: Any) -> None:
    known = originals()
    mine = function("/home/me/project/m.py")
    mine.__wrapped__ = module.sin  # type: ignore[attr-defined]
    module.sin = mine
    assert restore_originals(known) == ["numpy.made_for_a_test.sin"]


def test_what_is_added_stays(module: Any) -> None:
    known = originals()
    module.trapezoid = function("/home/me/project/m.py")
    assert restore_originals(known) == []
    assert module.trapezoid() == "builtins"
