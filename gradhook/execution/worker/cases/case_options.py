"""Read an annotation's options: its cases and how they are checked.

Options come from a decorator as Python objects, or from the configuration as TOML. Every mistake in them is named with
its remedy before anything runs.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gradhook.annotations import Case, Raises
from gradhook.annotations.inputs import Spec
from gradhook.comparison.judge import Tolerance
from gradhook.execution.worker.cases.jaxtyping import inputs_from_annotations
from gradhook.execution.worker.cases.methods import SHAPES, dtypes, on_instance
from gradhook.execution.worker.cases.option_expressions import evaluate, reference
from gradhook.execution.worker.cases.specs import specs, with_domain
from gradhook.model.errors import GradhookError
from gradhook.model.results import CheckSettings
from gradhook.numerics.case import CheckCase, CheckOptions

MODES = ("fwd", "rev")
KINKS = ("left", "right", "mean", "subgradient")
ORDER2 = ("zero", "of the surrogate", "error")
TIES = ("even", "away", "up", "down")
BOUNDS = ("closed", "open")
STOPPED = ("frozen",)
_CASE_KEYS = ("args", "kwargs", "value", "derivative", "tangent", "kink", "raises", "match")
DEFAULT_CASE, ANNOTATED_CASE = "args", "annotations"


def check_options(options: Mapping[str, Any], settings: CheckSettings, surrogate: bool = False) -> CheckOptions:
    """The options for every case; the annotation's own take precedence over the settings.

    Raises:
        GradhookError: an option has a wrong type or an unknown value.
    """
    said = dict(options)
    _switch("slow", said)
    atol, rtol = said.get("atol", settings.atol), said.get("rtol", settings.rtol)
    return CheckOptions(
        self_test=settings.self_test,
        curves=settings.curves,
        order=_order(said.get("order", settings.order)),
        modes=_modes(said.get("modes", settings.modes)),
        tolerance=Tolerance(_tolerance("atol", atol), _tolerance("rtol", rtol)),
        step=_step(said.get("eps")),
        wrt=_wrt(said.get("wrt")),
        exact=None if surrogate else _callable("exact", said),
        forward=_callable("forward", said),
        derivative_of=_callable("derivative_of", said),
        rule=_callable("rule", said),
        surrogate=surrogate,
        exact_in=_exact_in(said.get("exact")) if surrogate else None,
        order2=_one_of("order2", said.get("order2"), ORDER2),
        ties=_one_of("ties", said.get("ties"), TIES),
        bounds=_one_of("bounds", said.get("bounds"), BOUNDS),
        dtypes=dtypes(said.get("dtypes")),
        shapes=_one_of("shapes", said.get("shapes"), SHAPES),
        frozen=_one_of("stop_gradient", said.get("stop_gradient"), STOPPED) is not None,
    )


def _switch(name: str, said: Mapping[str, Any]) -> None:
    """Refuse values other than True and False: a word such as "no" would count as true."""
    if not isinstance(said.get(name, False), bool):
        raise GradhookError(f"{name}={said[name]!r}", f"{name} is True or False")


def check_cases(options: Mapping[str, Any], configured: bool, function: Any = None) -> list[CheckCase]:
    """The cases of a claim, ``args`` first; without any, the one that the annotations describe.

    Raises:
        GradhookError: there is none, or one of them is not what it should be.
    """
    kink = _kink(options.get("kink"))
    found = [replace(one, kink=kink) for one in _direct(options, configured, function)]
    cases = options.get("cases") or {}
    if not isinstance(cases, Mapping):
        raise GradhookError(f"cases= is a {type(cases).__name__}", 'write cases={"name": (x, y), …}')
    found += [_situation(str(name), given, kink, configured) for name, given in cases.items()]
    if not found:
        found.append(CheckCase(ANNOTATED_CASE, *inputs_from_annotations(on_instance(function)), kink=kink))
    shaped = [replace(one, args=specs(one.args), kwargs=specs(dict(one.kwargs))) for one in found]
    return with_domain(shaped, options.get("domain"), function)


def _direct(options: Mapping[str, Any], configured: bool, function: Any) -> list[CheckCase]:
    """The case of ``args`` and ``kwargs``; annotations describe missing ``args``."""
    kwargs = _kwargs(options.get("kwargs"), configured)
    if options.get("args") is not None:
        return [CheckCase(DEFAULT_CASE, _args(options["args"], configured), kwargs)]
    if not kwargs:
        return []
    args, described = inputs_from_annotations(on_instance(function), frozenset(kwargs))
    return [CheckCase(DEFAULT_CASE, args, {**described, **kwargs})]


def ignored(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The codes, or their prefixes, that a claim ignores.

    Raises:
        GradhookError: something else is given, or nothing but ``GRD``, which would be all of them.
    """
    given = options.get("ignore")
    codes = [given] if isinstance(given, str) else given or ()
    if not isinstance(codes, (list, tuple)) or not all(re.fullmatch("GRD[0-8][0-9]{0,2}", str(c)) for c in codes):
        raise GradhookError(
            f"ignore={given!r}", 'name codes, none that begins with GRD9, for example ignore=("GRD406",)'
        )
    return tuple(map(str, codes))


def _situation(name: str, given: Any, kink: str | float | None, configured: bool) -> CheckCase:
    if isinstance(given, Raises):
        return CheckCase(name, given.args, given.kwargs, error=given.error, match=given.match)
    if isinstance(given, Case):
        own = kink if given.kink is None else _kink(given.kink)
        return CheckCase(name, given.args, given.kwargs, given.value, given.derivative, given.tangent, own)
    if configured and isinstance(given, Mapping):
        return _configured(name, given, kink)
    return CheckCase(name, _args(given, configured, f"case {name!r}"), kink=kink)


def _configured(name: str, given: Mapping[str, Any], kink: str | float | None) -> CheckCase:
    for key in given:
        if key not in _CASE_KEYS:
            near = difflib.get_close_matches(key, _CASE_KEYS, 1)
            raise GradhookError(
                f"case {name!r} has an unknown key {key!r}", f"did you mean {near[0]!r}?" if near else ""
            )
    return CheckCase(
        name, _args(given.get("args", []), True, f"case {name!r}"), _kwargs(given.get("kwargs"), True),
        value=evaluate(given.get("value")), derivative=evaluate(given.get("derivative")),
        tangent=evaluate(given.get("tangent")), kink=kink if "kink" not in given else _kink(given["kink"]),
        error=_error(given.get("raises")), match=given.get("match"),
    )  # fmt: skip


def _args(given: Any, configured: bool, what: str = "args=") -> tuple[Any, ...]:
    if configured:
        given = reference(given) if isinstance(given, str) else tuple(evaluate(item) for item in given)
    if callable(given) and not isinstance(given, (tuple, Spec)):
        given = given()
    if isinstance(given, list) and given and all(type(item) in (tuple, Case, Raises) for item in given):
        raise GradhookError(
            f"{what} is a list of tuples",
            'several inputs are cases={"first": (x, y), "second": (…)}, one input of tuples is args=((…), (…))',
        )
    if isinstance(given, Spec) or not isinstance(given, (tuple, list)):
        kind = "one input" if isinstance(given, Spec) else f"a {type(given).__name__}"
        one = f"{given.kind}(…)" if isinstance(given, Spec) else "x"
        raise GradhookError(
            f"{what} is {kind}, not a tuple", f"write args=({one},): one entry for each argument, note the comma"
        )
    return tuple(given)


def _kwargs(given: Any, configured: bool) -> Mapping[str, Any]:
    if given is None:
        return {}
    if configured:
        given = reference(given) if isinstance(given, str) else evaluate(given)
    if callable(given):
        given = given()
    if not isinstance(given, Mapping):
        raise GradhookError(f"kwargs= is a {type(given).__name__}", 'write kwargs={"name": value}')
    return given


def _order(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 4:
        raise GradhookError(f"order={given!r} is no order", "order is a whole number from 1 to 4")
    return given


def _modes(given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    modes = (given,) if isinstance(given, str) else given
    if not isinstance(modes, (list, tuple)) or not modes or any(mode not in MODES for mode in modes):
        raise GradhookError(f"modes={given!r} names no mode", 'modes are "fwd" and "rev", for example modes=("rev",)')
    return tuple(modes)


def _tolerance(name: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given < float("inf"):
        raise GradhookError(f"{name}={given!r}", f"{name} is a number from 0 up; it holds for each element")
    return float(given)


def _step(given: Any) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given < float("inf"):
        raise GradhookError(f"eps={given!r}", "eps is a positive step, or None for the error-controlled ladder")
    return float(given)


def _wrt(given: Any) -> Any:
    items = given if isinstance(given, (list, tuple)) else [given]
    if given is not None and not all(isinstance(i, (int, str)) and not isinstance(i, bool) for i in items):
        raise GradhookError(f"wrt={given!r}", "wrt names arguments by position or name, for example wrt=(0, 'scale')")
    return given


def _exact_in(given: Any) -> tuple[int | str, ...] | None:
    """The arguments in which a surrogate claims to be exact."""
    if given is None:
        return None
    items = given if isinstance(given, (list, tuple)) else [given]
    if not items or not all(isinstance(i, (int, str)) and not isinstance(i, bool) for i in items):
        raise GradhookError(f"exact={given!r}", 'of a surrogate, exact names arguments, for example exact=("scale",)')
    return tuple(items)


def _one_of(name: str, given: Any, known: tuple[str, ...]) -> str | None:
    if given is None or (isinstance(given, str) and given in known):
        return given
    near = difflib.get_close_matches(str(given), known, 1)
    choices = ", ".join(f'"{word}"' for word in known)
    raise GradhookError(
        f"{name}={given!r}", f"{name} is one of {choices}" + (f"; did you mean {near[0]!r}?" if near else "")
    )


def _kink(given: Any) -> str | float | None:
    if given is None or (isinstance(given, str) and given in KINKS):
        return given
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given)
    near = difflib.get_close_matches(str(given), KINKS, 1)
    raise GradhookError(
        f"kink={given!r}",
        f"kink is one of {', '.join(KINKS)} or a number" + (f"; did you mean {near[0]!r}?" if near else ""),
    )


def _callable(name: str, said: Mapping[str, Any]) -> Callable[..., Any] | None:
    given = reference(said.get(name))
    if given is not None and not callable(given):
        raise GradhookError(f"{name}= is a {type(given).__name__}", f"{name} is a function")
    result: Callable[..., Any] | None = given
    return result


def _error(given: Any) -> type[BaseException] | None:
    if given is None:
        return None
    found = reference(f"builtins:{given}" if ":" not in str(given) else given)
    if not (inspect.isclass(found) and issubclass(found, BaseException)):
        raise GradhookError(f"raises={given!r}", 'name an exception, for example "ValueError" or "pkg.mod:BadShape"')
    return found
