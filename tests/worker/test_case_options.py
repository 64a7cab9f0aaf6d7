"""Every option of an annotation, right and wrong: a mistake is named with its remedy before anything runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradhook
from gradhook.comparison.judge import Tolerance
from gradhook.execution.worker.cases.case_options import check_cases, check_options, ignored
from gradhook.model.errors import GradhookError
from gradhook.model.results import RTOL, CheckSettings
from gradhook.numerics.case import CheckCase, CheckOptions


def _demands(settings: CheckSettings | None = None, surrogate: bool = False, **options: Any) -> CheckOptions:
    return check_options(options, settings or CheckSettings(), surrogate)


def _one(configured: bool = False, **options: Any) -> CheckCase:
    (found,) = check_cases(options, configured)
    return found


def _refused(call: Any, **options: Any) -> GradhookError:
    with pytest.raises(GradhookError) as caught:
        call(**options)
    assert caught.value.help
    return caught.value


def test_defaults() -> None:
    asked = _demands()
    assert (asked.order, asked.modes, asked.tolerance, asked.step, asked.wrt) == (
        1,
        None,
        Tolerance(0.0, RTOL),
        None,
        None,
    )
    assert (asked.exact, asked.forward, asked.derivative_of, asked.rule) == (None,) * 4


def test_settings_stand_where_the_annotation_is_silent() -> None:
    settings = CheckSettings(order=2, modes=("rev",), atol=1e-3, rtol=1e-4)
    asked = _demands(settings)
    assert (asked.order, asked.modes, asked.tolerance) == (2, ("rev",), Tolerance(1e-3, 1e-4))
    asked = _demands(settings, order=1, modes="fwd", rtol=0)
    assert (asked.order, asked.modes, asked.tolerance) == (1, ("fwd",), Tolerance(1e-3, 0.0))


@pytest.mark.parametrize(
    "options, name, expected",
    [
        ({"order": 4}, "order", 4),
        ({"modes": "rev"}, "modes", ("rev",)),
        ({"modes": ["fwd", "rev"]}, "modes", ("fwd", "rev")),
        ({"eps": 1e-3}, "step", 1e-3),
        ({"eps": 1}, "step", 1.0),
        ({"wrt": 0}, "wrt", 0),
        ({"wrt": ("x", -1)}, "wrt", ("x", -1)),
        ({"exact": math.cos}, "exact", math.cos),
        ({"exact": "math:cos"}, "exact", math.cos),
        ({"forward": round}, "forward", round),
        ({"derivative_of": math.tanh}, "derivative_of", math.tanh),
        ({"rule": "math:fsum"}, "rule", math.fsum),
        ({"atol": 1e-3}, "tolerance", Tolerance(1e-3, RTOL)),
        ({"stop_gradient": "frozen"}, "frozen", True),
    ],
)
def test_options(options: dict[str, Any], name: str, expected: Any) -> None:
    assert getattr(_demands(**options), name) == expected


@pytest.mark.parametrize(
    "options, remedy",
    [
        ({"order": 0}, "from 1 to 4"),
        ({"order": 5}, "from 1 to 4"),
        ({"order": "2"}, "from 1 to 4"),
        ({"order": True}, "from 1 to 4"),
        ({"order": 2.0}, "from 1 to 4"),
        ({"modes": "forward"}, 'modes are "fwd" and "rev"'),
        ({"modes": ()}, 'modes are "fwd" and "rev"'),
        ({"modes": ("fwd", "revv")}, 'modes are "fwd" and "rev"'),
        ({"modes": 3}, 'modes are "fwd" and "rev"'),
        ({"atol": -1}, "a number from 0 up"),
        ({"atol": math.nan}, "a number from 0 up"),
        ({"rtol": "1e-3"}, "a number from 0 up"),
        ({"rtol": math.inf}, "a number from 0 up"),
        ({"rtol": True}, "a number from 0 up"),
        ({"eps": 0}, "a positive step"),
        ({"eps": "small"}, "a positive step"),
        ({"wrt": 1.5}, "by position or name"),
        ({"wrt": (0, None)}, "by position or name"),
        ({"exact": 3.0}, "exact is a function"),
        ({"forward": np.zeros(2)}, "forward is a function"),
        ({"rule": {}}, "rule is a function"),
        ({"derivative_of": "math:tanhh"}, "package.module:name"),
        ({"stop_gradient": "frozne"}, "did you mean 'frozen'?"),
        ({"order2": "of surrogate"}, "of the surrogate"),
        ({"ties": "evn"}, "did you mean 'even'?"),
    ],
)
def test_wrong_options(options: dict[str, Any], remedy: str) -> None:
    error = _refused(_demands, **options)
    assert remedy in error.help
    assert next(iter(options)) in error.message or "cannot be imported" in error.message


@pytest.mark.parametrize("args", [(1.0,), [1.0], lambda: (1.0,), lambda: [1.0]])
def test_arguments(args: Any) -> None:
    assert _one(args=args) == CheckCase("args", (1.0,))


@pytest.mark.parametrize("kwargs", [{"k": 2}, lambda: {"k": 2}])
def test_keyword_arguments(kwargs: Any) -> None:
    assert _one(args=(1.0,), kwargs=kwargs).kwargs == {"k": 2}


def test_no_arguments_at_all_are_arguments() -> None:
    assert _one(args=()).args == ()


@pytest.mark.parametrize(
    "options, words",
    [
        ({}, "no inputs are given"),
        ({"args": None}, "no inputs are given"),
        ({"args": gradhook.normal(3)}, "args= is one input, not a tuple"),
        ({"args": np.zeros(3)}, "args= is a ndarray, not a tuple"),
        ({"args": 1.0}, "args= is a float, not a tuple"),
        ({"args": "x"}, "args= is a str, not a tuple"),
        ({"args": {"x": 1.0}}, "args= is a dict, not a tuple"),
        ({"args": lambda: 1.0}, "args= is a float, not a tuple"),
        ({"args": lambda: gradhook.normal(3)}, "args= is one input, not a tuple"),
        ({"args": [(1.0,), (2.0,)]}, "args= is a list of tuples"),
        ({"args": [gradhook.case(1.0)]}, "args= is a list of tuples"),
        ({"args": (1.0,), "kwargs": "k"}, "kwargs= is a str"),
        ({"args": (1.0,), "kwargs": lambda: [1]}, "kwargs= is a list"),
        ({"cases": [(1.0,)]}, "cases= is a list"),
        ({"cases": {"one": 1.0}}, "case 'one' is a float, not a tuple"),
        ({"cases": {"one": gradhook.normal(3)}}, "case 'one' is one input, not a tuple"),
        ({"args": (1.0,), "kink": "lft"}, "kink='lft'"),
        ({"args": (1.0,), "kink": True}, "kink=True"),
        ({"args": (1.0,), "kink": np.zeros(2)}, "kink=array"),
        ({"cases": {"one": gradhook.case(1.0, kink="middle")}}, "kink='middle'"),
    ],
)
def test_wrong_inputs(options: dict[str, Any], words: str) -> None:
    error = _refused(lambda **o: check_cases(o, False), **options)
    assert words in error.message


def test_a_list_is_a_tuple_of_arguments() -> None:
    spec = gradhook.normal(3)
    assert _one(args=[spec, spec]).args == (spec, spec)
    assert _one(args=((1.0,), (2.0,))).args == ((1.0,), (2.0,))


def test_keyword_arguments_alone() -> None:
    def function(x: Any, k: Any = 1) -> Any:
        return x * k

    (found,) = check_cases({"kwargs": {"x": gradhook.normal(3)}}, False, function)
    assert (found.args, found.kwargs) == ((), {"x": gradhook.normal(3)})
    with pytest.raises(GradhookError, match="the parameter `x` is annotated Any"):
        check_cases({"kwargs": {"k": 1}}, False, function)


def test_the_nearest_convention_is_named() -> None:
    assert "did you mean 'left'?" in _refused(lambda **o: check_cases(o, False), args=(1.0,), kink="lft").help


def test_what_making_the_arguments_raises_gets_through() -> None:
    with pytest.raises(ZeroDivisionError):
        check_cases({"args": lambda: (1 / 0,)}, False)


def test_cases() -> None:
    found = check_cases(
        {
            "args": (1.0,),
            "kink": "left",
            "cases": {
                "plain": (2.0,),
                "full": gradhook.case(3.0, kwargs={"k": 1}, value=4.0, derivative=5.0, tangent=6.0, kink=0),
                "inherits": gradhook.case(3.0),
                "bad": gradhook.raises((TypeError, ValueError), 7.0, kwargs={"k": 2}, match="shape"),
            },
        },
        False,
    )
    assert found == [
        CheckCase("args", (1.0,), kink="left"),
        CheckCase("plain", (2.0,), kink="left"),
        CheckCase("full", (3.0,), {"k": 1}, 4.0, 5.0, 6.0, 0.0),
        CheckCase("inherits", (3.0,), kink="left"),
        CheckCase("bad", (7.0,), {"k": 2}, error=(TypeError, ValueError), match="shape"),
    ]


def make_inputs() -> tuple[Any, ...]:
    return (gradhook.normal(2), "relu")


class BadShape(ValueError):
    """For the test of ``raises =`` below."""


def test_inputs_from_the_configuration() -> None:
    assert _one(True, args=["normal(3)", 2, "'relu'"]).args == (gradhook.normal(3), 2, "relu")
    assert _one(True, args=["normal(3)"], kwargs={"k": "uniform(2)"}).kwargs == {"k": gradhook.uniform(2)}
    (x,) = _one(True, args=[[1.0, 2.0]]).args
    assert isinstance(x, np.ndarray) and x.shape == (2,)


def test_inputs_made_by_a_function_that_the_configuration_names(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    module = types.ModuleType("inputs_of_mine")
    module.make, module.BadShape = make_inputs, BadShape  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "inputs_of_mine", module)
    assert _one(True, args="inputs_of_mine:make").args == (gradhook.normal(2), "relu")
    bad = _one(True, cases={"bad": {"args": [1.0], "raises": "inputs_of_mine:BadShape", "match": "two"}})
    assert (bad.error, bad.match) == (BadShape, "two")


def test_cases_from_the_configuration() -> None:
    zero, bad, short = check_cases(
        {
            "cases": {
                "zero": {"args": ["0.0"], "value": 0.0, "derivative": [1.0], "kink": "left", "kwargs": {"k": 2}},
                "bad": {"args": [[1.0, 2.0]], "raises": "ValueError"},
                "short": ["normal(3)"],
            }
        },
        True,
    )
    assert (zero.args, zero.value, zero.kink, zero.kwargs) == ((0.0,), 0.0, "left", {"k": 2})
    assert list(zero.derivative) == [1.0]
    assert bad.error is ValueError and short.args == (gradhook.normal(3),)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"argz": ["0.0"]}, "unknown key 'argz'"),
        ({"args": ["0.0"], "raises": "NoSuchError"}, "cannot be imported"),
        ({"args": ["0.0"], "raises": "len"}, "raises='len'"),
        ({"args": ["nromal(3)"]}, "'nromal(3)'"),
    ],
)
def test_wrong_cases_of_the_configuration(given: dict[str, Any], words: str) -> None:
    assert words in _refused(lambda **o: check_cases(o, True), cases={"one": given}).message


@pytest.mark.parametrize("given", [("GRD406", "GRD1"), ["GRD406", "GRD1"]])
def test_ignored_codes(given: Any) -> None:
    assert ignored({"ignore": given}) == ("GRD406", "GRD1")
    assert (ignored({"ignore": "GRD406"}), ignored({})) == (("GRD406",), ())


@pytest.mark.parametrize("given", ["GRD", "GRD9", ("GRD901",), ("E501",), 3, ("GRD4061",), {"GRD406": 1}])
def test_codes_that_cannot_be_ignored(given: Any) -> None:
    assert "ignore=" in _refused(lambda: ignored({"ignore": given})).message
