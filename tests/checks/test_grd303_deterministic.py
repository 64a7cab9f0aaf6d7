"""GRD303: two calls agree, and a random key is used once."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import key, normal
from gradhook.checks import grd303_deterministic as check
from gradhook.model.results import Verdict


def test_a_right_function(ask: Any) -> None:
    assert ask(check, jnp.sin, normal(3)).verdict is Verdict.PASS
    assert ask(check, lambda k, x: x * jax.random.normal(k, (3,)), key(), normal(3)).verdict is Verdict.PASS


def test_a_counter(ask: Any) -> None:
    counter = itertools.count()

    def drifts(x: Any) -> Any:
        step = jax.pure_callback(lambda: np.float64(next(counter)), jax.ShapeDtypeStruct((), jnp.float64))
        return x + jax.lax.stop_gradient(step)

    outcome = ask(check, drifts, normal(3))
    assert outcome.verdict is Verdict.FAIL
    assert "with the same arguments the value is" in outcome.findings[0].message


def test_a_global_generator(ask: Any) -> None:
    random = np.random.default_rng(0)

    def noisy(x: Any) -> Any:
        return x * (1 + 1e-9 * random.standard_normal()) if float(x) > 0 else x

    assert ask(check, noisy, 0.5).verdict is Verdict.FAIL


def test_a_nan_equals_a_nan(ask: Any) -> None:
    assert ask(check, jnp.log, np.array([-1.0, 1.0])).verdict is Verdict.PASS


def test_a_key_that_is_used_twice(ask: Any) -> None:
    def twice(k: Any, x: Any) -> Any:
        return x * jax.random.normal(k, (3,)) + jax.random.uniform(k, (3,))

    outcome = ask(check, twice, key(), normal(3))
    assert outcome.verdict is Verdict.FAIL
    assert "a PRNG key is used twice" in outcome.findings[0].message and "split" in outcome.findings[0].help

    def split(k: Any, x: Any) -> Any:
        first, second = jax.random.split(k)
        return x * jax.random.normal(first, (3,)) + jax.random.uniform(second, (3,))

    assert ask(check, split, key(), normal(3)).verdict is Verdict.PASS
