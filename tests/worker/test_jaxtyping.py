"""Do annotations alone give inputs, with jaxtyping's grammar of dimensions, and say which one is missing?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, Optional

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook.annotations.inputs import integers, key, normal
from gradhook.execution.worker.cases.jaxtyping import Sizes, inputs_from_annotations, shape_of
from gradhook.execution.worker.examine import examine
from gradhook.model.errors import GradhookError
from gradhook.model.results import CheckSettings, ClaimKind, Target, Verdict

jt = pytest.importorskip("jaxtyping", reason="the test extra installs it")
Float, Int, Bool, Key, PyTree, Array = jt.Float, jt.Int, jt.Bool, jt.Key, jt.PyTree, jax.Array


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("", ()), ("n", (3,)), ("n d", (3, 2)), ("n n", (3, 3)), ("a b c d", (3, 2, 4, 5)), ("4 n", (4, 3)),
        ("... n", (3,)), ("*batch n", (3,)), ("#n n", (3, 3)), ("?n", (3,)), ("_ _", (3, 2)), ("_rows n", (3, 2)),
        ("n n+1", (3, 4)), ("n 2*n-1", (3, 5)), ("rgb=3 n", (3, 3)), ("n m min(n,m)", (3, 2, 2)),
        ("#*batch n", (3,)), ("*#batch n", (3,)), ("{self.width}", None), ("n-4 n", None), ("n+", None),
    ],
)  # fmt: skip
def test_dimensions(text: str, shape: tuple[int, ...] | None) -> None:
    assert shape_of(text, Sizes()) == shape


class Params(NamedTuple):
    weights: Float[Array, "n d"]
    bias: Float[Array, "n"]
    name: str = "dense"


@dataclasses.dataclass
class Layer:
    weights: Float[Array, "n d"]
    slope: float


@dataclasses.dataclass
class Odd:
    weights: Float[Array, "n"]

    def __post_init__(self) -> None:
        self.total = self.weights.sum()


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {}


def case(args: tuple[Any, ...], **kwargs: Any) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        CASES[function.__name__] = function, args, kwargs
        return function

    return add


@case((normal(3, 2), normal(2), normal()))
def names_are_shared(x: Float[Array, "n d"], w: Float[Array, "d"], s: Float[Array, ""]) -> Any: ...


@case((integers(3, low=0, high=2, dtype="int32"), integers(3, low=0, high=2, dtype="bool"), key()))
def no_floats(i: Int[Array, "n"], mask: Bool[Array, "n"], seed: Key[Array, ""]) -> Any: ...


@case((normal(3, dtype="float32"), normal(3, dtype="complex128"), integers(3, low=0, high=2, dtype="uint8")))
def dtypes(x: jt.Float32[Array, "n"], z: jt.Complex[Array, "n"], k: jt.UInt8[Array, "n"]) -> Any: ...


@case((normal(3), normal(3), normal(3), key(), normal()))
def unions(
    a: jt.Float[jt.ArrayLike, "n"], b: Float[np.ndarray, "n"] | Float[Array, "n"], c: Optional[Float[Array, "n"]],  # noqa: UP045
    d: jt.PRNGKeyArray, e: jt.Scalar,
) -> Any: ...  # fmt: skip


@case((normal(), 2, True, "relu", normal(3)))
def plain_types(
    x: float, n: int, flag: bool, how: Literal["relu", "tanh"], y: Annotated[Float[Array, "n"], 1]
) -> Any: ...


@case((normal(3),), y=normal(3))
def defaults(
    x: Float[Array, "n"], scale: float = 2.0, y: Float[Array, "n"] = 0.0, z: Float[Array, "n"] | None = None
): ...


@case((normal(3),), y=normal(3))
def keywords(x: Float[Array, "n"], *rest: Any, y: Float[Array, "n"], how="relu", **more: Any) -> Any: ...


@case((normal(3),))
def positional_only(x: Float[Array, "n"], /) -> Any: ...


@case((Params(normal(3, 2), normal(3)), Layer(normal(3, 2), normal())))
def records(params: Params, layer: Layer) -> Any: ...


@case(((normal(3), normal(2)), [normal(3)] * 2, {"a": normal(2), "b": normal(2)}, normal(3)))
def containers(
    x: tuple[Float[Array, "n"], Float[Array, "d"]], y: list[Float[Array, "n"]], z: dict[str, Float[Array, "d"]],
    t: PyTree[Float[Array, "n"]],
) -> Any: ...  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_annotations_describe_the_inputs(name: str) -> None:
    function, args, kwargs = CASES[name]
    assert inputs_from_annotations(function) == (args, kwargs)


@pytest.mark.parametrize("wrapper", [jax.jit, jax.custom_jvp, jax.custom_vjp, jax.custom_gradient, jax.checkpoint])
def test_under_what_jax_makes_of_it(wrapper: Any) -> None:
    assert inputs_from_annotations(wrapper(names_are_shared)) == ((normal(3, 2), normal(2), normal()), {})


def test_a_rule_gets_plain_numbers_for_what_it_does_not_differentiate() -> None:
    def spike(x: Float[Array, "n"], slope: float) -> Any: ...

    assert inputs_from_annotations(jax.custom_jvp(spike, nondiff_argnums=(1,))) == ((normal(3), 0.5), {})


def _unannotated(x: Float[Array, "n"], y) -> Any: ...
def _bare(x: jax.Array) -> Any: ...
def _hidden(x: Nowhere) -> Any: ...  # type: ignore[name-defined]
def _unknowable(x: Float[Array, "{width}"]) -> Any: ...
def _converting(x: Odd) -> Any: ...
def _nothing(*args: Any) -> Any: ...


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_unannotated, "`y` has no annotation"),
        (_bare, "`x` is annotated jax.Array, which says no shape"),
        (_hidden, "`x` is annotated Nowhere"),
        (_unknowable, "`x` is annotated Float"),
        (_converting, "`x` is annotated Odd"),
        (_nothing, "no inputs are given"),
        (3, "does not tell its parameters"),
    ],
)
def test_what_is_missing_is_named(function: Any, says: str) -> None:
    with pytest.raises(GradhookError, match=says) as caught:
        inputs_from_annotations(function)
    assert "args=" in caught.value.help


def test_a_target_without_args_is_checked_by_its_annotations() -> None:
    def energy(x: Float[Array, "n d"], w: Float[Array, "d"], p: float) -> Any:
        return jnp.log(p) + jnp.tanh(x @ w)

    target = Target("module", "energy", "module.py", 1, 1, ClaimKind.EXACT, "/nowhere")
    report = examine(energy, target, {"domain": {"p": "positive"}}, CheckSettings(), lambda case: None)
    assert report.verdict is Verdict.PASS
    assert {outcome.case for outcome in report.outcomes} == {"annotations"}
