"""What counts as a change that somebody else made?"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from gradhook.execution.worker.dependencies.mutated_modules import SETTING, _changed, differs, state


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        ({"path": [1]}, {"path": [1]}, False),
        ({"path": [1]}, {"path": [1, 2]}, True),
        ({f"{SETTING}a": 1}, {f"{SETTING}a": 1, f"{SETTING}new": 2}, False),  # JAX has it since a module was loaded
        ({f"{SETTING}a": 1}, {f"{SETTING}a": 2}, True),
        ({}, {"environment": {}}, True),
    ],
)
def test_what_is_common(before: dict[str, Any], now: dict[str, Any], changed: bool) -> None:
    assert _changed(before, now) is changed


class Box:
    def __init__(self, **inside: Any) -> None:
        vars(self).update(inside)


def module() -> Any:
    made: Any = ModuleType("made")
    made.number, made.table, made.items, made.box = 1, {"a": [1]}, [1], Box(inner={"k": 1})
    made.function = lambda: 1
    return made


CHANGES = {
    "a name": lambda m: setattr(m, "number", 2000),
    "a new name": lambda m: setattr(m, "other", 1),
    "an entry": lambda m: m.table.update(b=2),
    "an inner entry": lambda m: m.table["a"].append(2),
    "an item": lambda m: m.items.append(2),
    "an attribute": lambda m: setattr(m.box, "more", 1),
    "an entry of an attribute": lambda m: m.box.inner.update(k=2000),
    "an attribute of a function": lambda m: setattr(m.function, "rule", 1),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_others_did_to_a_module(what: str) -> None:
    made = module()
    before = state(made)
    assert not differs(before, state(made))
    CHANGES[what](made)
    assert differs(before, state(made))


def test_what_is_nobodys_doing() -> None:
    made = module()
    before = state(made)
    made.submodule = ModuleType("made.submodule")
    made.function.__gradhook__ = ()
    assert not differs(before, state(made))
