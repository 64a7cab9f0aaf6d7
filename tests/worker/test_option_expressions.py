"""Texts of the configuration stand for input specs, literals, and importable things; nothing else is run."""

from __future__ import annotations

import collections
import contextlib
import math
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradhook
import gradhook.annotations.inputs
from gradhook.execution.worker.cases.option_expressions import SPECS, evaluate, reference
from gradhook.model.errors import GradhookError


@pytest.mark.parametrize(
    "text, expected",
    [
        ("normal(3)", gradhook.normal(3)),
        ("normal()", gradhook.normal()),
        (" uniform(2, 3, low=-3, high=3) ", gradhook.uniform(2, 3, low=-3, high=3)),
        ("positive((2, 2), dtype='float32')", gradhook.positive(2, 2, dtype="float32")),
        ("full(2, value=-1e-3)", gradhook.full(2, value=-1e-3)),
        ("key()", gradhook.key()),
        ("{'w': normal(2), 'b': [zeros(1), 3]}", {"w": gradhook.normal(2), "b": [gradhook.zeros(1), 3]}),
        ("(normal(2), 'relu', None)", (gradhook.normal(2), "relu", None)),
        ("1.5", 1.5),
        ("-2", -2),
        ("-inf", -math.inf),
        ("True", True),
        ("'relu'", "relu"),
        ("collections:OrderedDict", collections.OrderedDict),
        ("os:path.join", os.path.join),
    ],
)
def test_texts(text: str, expected: Any) -> None:
    assert evaluate(text) == expected


def test_every_spec_can_be_written() -> None:
    makers = {
        name
        for name, made in vars(gradhook.annotations.inputs).items()
        if getattr(made, "__module__", "") == "gradhook.annotations.inputs"
    }
    assert set(SPECS) == {name for name in makers if not name.startswith("_")} - {"Spec"}


@pytest.mark.parametrize(
    "text", ["normal(3", "normal(x)", "sin(3)", "relu", "__import__('os')", "1 + 1", "[n for n in 'a']"]
)
def test_other_texts_are_refused_with_the_choices(text: str) -> None:
    with pytest.raises(GradhookError) as caught:
        evaluate(text)
    assert repr(text) in caught.value.message and "normal" in caught.value.help


@pytest.mark.parametrize("text", ["uniform(3, low=1, high=0)", "normal(-1)", "full(3)", "normal(3, colour=1)"])
def test_what_a_spec_refuses_is_refused(text: str) -> None:
    with pytest.raises(GradhookError):
        evaluate(text)


@given(st.text(max_size=30))
def test_any_text_is_understood_or_refused(text: str) -> None:
    with contextlib.suppress(GradhookError):  # any other exception would be ours
        evaluate(text)


@given(st.recursive(st.integers(-9, 9) | st.floats(-9, 9), lambda inner: st.lists(inner, max_size=3), max_leaves=5))
def test_numbers_are_themselves_and_lists_of_them_arrays(value: Any) -> None:
    try:
        rectangular = np.asarray(value).ndim >= 1 and np.asarray(value).size > 0
    except ValueError:
        rectangular = False
    if not isinstance(value, list):
        assert evaluate(value) == value
    elif rectangular:
        assert np.array_equal(evaluate(value), np.asarray(value))


def test_tables_and_mixed_lists() -> None:
    found = evaluate({"x": [[1.0, 2.0], [3.0, 4.0]], "layers": ["normal(2)", 3], "flag": True})
    assert found["x"].shape == (2, 2) and found["flag"] is True
    assert found["layers"] == (gradhook.normal(2), 3)


@pytest.mark.parametrize("given", [math.sin, 3, None, ("a",)])
def test_what_is_no_text_is_no_reference(given: Any) -> None:
    assert reference(given) is given


@pytest.mark.parametrize("text", ["math:sinn", "no_such_module:f", "math", "", ":sin", "math:", "math:sin.x.y"])
def test_references_that_lead_nowhere(text: str) -> None:
    with pytest.raises(GradhookError) as caught:
        reference(text)
    assert "cannot be imported" in caught.value.message and "package.module:name" in caught.value.help
