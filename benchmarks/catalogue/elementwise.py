"""Functions of one number of ``jax.numpy``."""

from __future__ import annotations

import jax.numpy as jnp
import mpmath as mp

from catalogue.records import (
    POSITIVE,
    REALS,
    SMALL,
    UNIT,
    close,
    edge,
    jump,
    kink,
    outside,
    unary,
    unclear,
    wrong,
)

HUGE = (1e10, 1e20, 1e100, 1e-100, -1e10)

CLOSE = {x: close() for x in (-1e-12, 1e-30, 1e-100)}

OVERFLOW = unclear("the second derivative overflows", "GRD408", order=2)

ENTRIES = (
    unary("jnp.sin", jnp.sin, (*REALS, 1e10), mp.sin),
    unary("jnp.cos", jnp.cos, (*REALS, 1e10), mp.cos),
    unary(
        "jnp.tan",
        jnp.tan,
        (*SMALL, 1.5707, 1.570796),
        mp.tan,
        {1.570796: unclear("3e-7 from the pole", "GRD409", order=2)},
    ),
    unary("jnp.arcsin", jnp.arcsin, (*UNIT, 1.0, -1.0), mp.asin, {1.0: edge(), -1.0: edge()}),
    unary("jnp.arccos", jnp.arccos, (*UNIT, 1.0, -1.0), mp.acos, {1.0: edge(), -1.0: edge()}),
    unary("jnp.arctan", jnp.arctan, (*REALS, *HUGE), mp.atan),
    unary("jnp.sinh", jnp.sinh, (*SMALL, 300.0, 700.0), mp.sinh),
    unary("jnp.cosh", jnp.cosh, (*SMALL, 300.0, 700.0), mp.cosh),
    unary("jnp.tanh", jnp.tanh, (*SMALL, 300.0, -700.0), mp.tanh),
    unary("jnp.arcsinh", jnp.arcsinh, (*REALS, *HUGE), mp.asinh),
    unary("jnp.arccosh", jnp.arccosh, (1.7, 2.4, 3.0, 1.0001, 1e3, 1e10, 1e100, 1.0), mp.acosh, {1.0: edge()}),
    unary("jnp.arctanh", jnp.arctanh, (*UNIT, 1.0), mp.atanh, {1.0: outside()}),
    unary("jnp.exp", jnp.exp, (*SMALL, 700.0, -700.0, -740.0), mp.exp),
    unary("jnp.exp2", jnp.exp2, (*SMALL, 1000.0, -1000.0), lambda x: mp.mpf(2) ** x),
    unary("jnp.expm1", jnp.expm1, (*SMALL, 700.0, -700.0), mp.expm1),
    unary("jnp.log", jnp.log, (*POSITIVE, 1e100, 1e-100, 1e-300, 0.0), mp.log, {0.0: outside(), 1e-300: OVERFLOW}),
    unary("jnp.log2", jnp.log2, (*POSITIVE, 1e100, 1e-100, 0.0), lambda x: mp.log(x, 2), {0.0: outside()}),
    unary("jnp.log10", jnp.log10, (*POSITIVE, 1e100, 1e-100, 0.0), mp.log10, {0.0: outside()}),
    unary("jnp.log1p", jnp.log1p, (*POSITIVE, 0.0, -0.5, -0.999999, 1e-100, -1.0), mp.log1p, {-1.0: outside()}),
    unary("jnp.sqrt", jnp.sqrt, (*POSITIVE, 1e100, 1e-100, 1e-300, 0.0), mp.sqrt, {0.0: edge(), 1e-300: OVERFLOW}),
    unary(
        "jnp.cbrt",
        jnp.cbrt,
        (*REALS, *HUGE),
        lambda x: mp.sign(x) * mp.cbrt(abs(x)),
        {0.0: unclear("vertical tangent", "GRD404")},
    ),
    unary("jnp.square", jnp.square, (*REALS, *HUGE, 1e150), lambda x: x * x),
    unary("jnp.reciprocal", jnp.reciprocal, (*REALS, *HUGE), lambda x: 1 / x, {0.0: outside()}),
    unary("jnp.abs", jnp.abs, (*REALS, *HUGE), abs, {0.0: kink(), **CLOSE}),
    unary("jnp.sign", jnp.sign, (*REALS, *HUGE), mp.sign, {0.0: jump(), **{x: close(order=1) for x in CLOSE}}),
    unary("jnp.negative", jnp.negative, (*REALS, *HUGE), lambda x: -x),
    unary(
        "jnp.floor",
        jnp.floor,
        (0.7, -1.3, 2.4, 0.5, 0.0, 1.0, -3.0, 1e6 + 0.5),
        mp.floor,
        {0.0: jump(), 1.0: jump(), -3.0: jump()},
    ),
    unary(
        "jnp.ceil",
        jnp.ceil,
        (0.7, -1.3, 2.4, 0.5, 0.0, 1.0, -3.0, 1e6 + 0.5),
        mp.ceil,
        {0.0: jump(), 1.0: jump(), -3.0: jump()},
    ),
    unary(
        "jnp.trunc",
        jnp.trunc,
        (0.7, -1.3, 2.4, 0.5, 0.0, 1.0, -3.0, 1e6 + 0.5),
        lambda x: mp.sign(x) * mp.floor(abs(x)),
        {1.0: jump(), -3.0: jump()},
    ),
    unary(
        "jnp.rint",
        jnp.rint,
        (0.7, -1.3, 2.4, 0.0, 1.0, -3.0, 0.5, 2.5, 1e6 + 0.25),
        mp.nint,
        {0.5: jump(), 2.5: jump()},
    ),
    unary("jnp.sinc", jnp.sinc, SMALL, lambda x: mp.sincpi(x)),
    unary("jnp.deg2rad", jnp.deg2rad, REALS, mp.radians),
    unary(
        "jnp.i0",
        jnp.i0,
        (*SMALL, 300.0),
        lambda x: mp.besseli(0, x),
        {0.0: wrong("second derivative of i0 at 0 is 1/2 (jax-ml/jax#40628)", 2)},
    ),
    unary("jnp.nan_to_num", jnp.nan_to_num, REALS, lambda x: x),
    unary("jnp.real", jnp.real, REALS, lambda x: x),
)
