"""Are shapes drawn like specs, in any tree, and do they lie where the author says?"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradhook import annotations as write
from gradhook.annotations.inputs import integers, key, normal, positive, simplex, spd, uniform
from gradhook.execution.worker.cases.case_options import check_cases
from gradhook.execution.worker.cases.specs import specs
from gradhook.execution.worker.examine import examine
from gradhook.model.errors import GradhookError
from gradhook.model.results import CheckSettings, ClaimKind, Target, Verdict


class Params(NamedTuple):
    weights: Any
    bias: Any


def init(seed: Any) -> Params:
    return Params(jax.random.normal(seed, (3, 2)), jnp.zeros(3))


def layer(params: Params, x: Any) -> Any:
    return params.weights @ x + params.bias


def test_shapes_stand_for_specs_in_any_tree() -> None:
    shapes = {"a": jax.ShapeDtypeStruct((2,), jnp.int32), "b": [normal(2), "relu", None, 1.5]}
    assert specs(shapes) == {
        "a": integers(2, low=0, high=2, dtype="int32"), "b": [normal(2), "relu", None, 1.5],
    }  # fmt: skip
    assert specs(jax.eval_shape(lambda: jax.random.key(0))) == key()
    assert specs(jax.eval_shape(init, jax.random.key(0))) == Params(
        normal(3, 2, dtype="float32"), normal(3, dtype="float32")
    )


def test_parameters_are_given_by_the_shapes_of_their_initialiser() -> None:
    (one,) = check_cases({"args": (jax.eval_shape(init, jax.random.key(0)), normal(2))}, False, layer)
    assert one.args[0].weights == normal(3, 2, dtype="float32")


@pytest.mark.parametrize(
    ("domain", "drawn"),
    [
        ("positive", positive(3, 3)), ("unit", uniform(3, 3)), ("simplex", simplex(3, 3)), ("spd", None),
        ((0.5, 2), uniform(3, 3, low=0.5, high=2)), ([0, 1], uniform(3, 3, low=0, high=1)),
    ],
)  # fmt: skip
def test_a_domain_in_one_word(domain: Any, drawn: Any) -> None:
    options = {"args": (normal(3, 3), normal(2)), "domain": {"x": domain}}
    (one,) = check_cases(options, False, lambda x, y: x)
    assert one.args[0] == (spd(3) if domain == "spd" else drawn)
    assert one.args[1] == normal(2)


def test_a_domain_keeps_what_the_author_gave_and_reaches_into_trees() -> None:
    edge = write.case(Params(np.zeros((3, 2)), np.ones(3)), normal(2))
    options = {
        "args": (Params(normal(3, 2), np.ones(3)), normal(2)),
        "domain": {"params": "positive"},
        "cases": {"edge": edge, "bad": write.raises(TypeError, 1)},
    }
    one, given, _ = check_cases(options, False, layer)
    assert one.args[0].weights == positive(3, 2) and (one.args[0].bias == 1).all()
    assert not given.args[0].weights.any()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"args": (normal(2),), "domain": {"y": "positive"}}, "`y`, which is no argument"),
        ({"args": (np.ones(2),), "domain": {"x": "positive"}}, "`x`, which is not drawn"),
        ({"args": (normal(2),), "domain": {"x": "positiv"}}, "'positiv' is none for `x`"),
        ({"args": (normal(2),), "domain": {"x": (1, 0)}}, "is none for `x`"),
        ({"args": (normal(2, 3),), "domain": {"x": "spd"}}, "cannot be spd"),
        ({"args": (normal(2),), "domain": "positive"}, "domain= is a str"),
    ],
)
def test_what_is_wrong_with_a_domain(options: dict[str, Any], says: str) -> None:
    with pytest.raises(GradhookError, match=says):
        check_cases(options, False, lambda x: x)


def test_an_equinox_module_is_drawn_by_its_shapes() -> None:
    eqx = pytest.importorskip("equinox", reason="the test extra installs it")
    shapes = eqx.filter_eval_shape(lambda seed: eqx.nn.MLP(2, 3, 4, 1, key=seed), jax.random.key(0))
    target = Target("module", "f", "module.py", 1, 1, ClaimKind.EXACT, "/nowhere")
    options = {"args": (shapes, normal(2))}
    report = examine(lambda model, x: model(x), target, options, CheckSettings(modes=("rev",)), lambda case: None)
    assert report.verdict is Verdict.PASS
