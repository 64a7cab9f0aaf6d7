"""Rules that lose precision or linearity where neither shows at a float32 point or a cotangent of 1.

Truth: each wrong rule casts a residual, a primal or a cotangent to fewer bits, or is not linear in the cotangent; the
derivative of the value is plain. A rule in fewer bits is wrong almost everywhere, so drawn inputs must show it.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from sabotage import with_jvp, with_vjp

from gradhook import gradcheck, normal, positive

f32, f16, bf16 = jnp.float32, jnp.float16, jnp.bfloat16


def cube(x):
    return x * x * x


def copy(x):
    return x * 1.0


def narrow(x, dtype):
    """The nearest number of ``dtype``, in the dtype of ``x``."""
    return x.astype(dtype).astype(x.dtype)


def saved_as(dtype):
    """The cube, whose VJP saves its argument in ``dtype``."""
    return with_vjp(
        cube, lambda r, ct: ((3 * r.astype(ct.dtype) ** 2 * ct).astype(ct.dtype),), lambda x: narrow(x, dtype)
    )


def sent_as(dtype):
    """The identity, whose VJP sends the cotangent through ``dtype``."""
    return with_vjp(copy, lambda r, ct: (narrow(ct, dtype),))


def primal_as(dtype):
    """The cube, whose JVP is evaluated at a narrowed point."""
    return with_jvp(cube, lambda p, t: 3 * narrow(p[0], dtype) ** 2 * t[0])


def sine_by(change):
    """sin, whose VJP changes the cotangent first."""
    return with_vjp(jnp.sin, lambda r, ct: (jnp.cos(r[0]) * change(ct),))


def exp_saved(dtype):
    """exp, whose VJP saves its value in ``dtype``."""
    return with_vjp(jnp.exp, lambda r, ct: (r * ct,), lambda x: narrow(jnp.exp(x), dtype))


def product_saved(dtype):
    """A matrix times a vector, whose VJP saves the matrix in ``dtype``."""

    def backward(r, ct):
        a, x = r
        return jnp.outer(ct, x), narrow(a, dtype).T @ ct

    return with_vjp(lambda a, x: a @ x, backward)


TENTHS = np.array([0.1, 0.2, 0.3])

# Residuals and primals in fewer bits, the rule itself.
f_saved_f32 = gradcheck(args=(normal(3),))(saved_as(f32))
f_saved_f32_given = gradcheck(args=(TENTHS,))(saved_as(f32))
f_saved_f32_scalar = gradcheck(args=(0.1,))(saved_as(f32))
f_saved_f32_positive = gradcheck(args=(positive(3),))(saved_as(f32))
f_saved_bf16 = gradcheck(args=(normal(3),))(saved_as(bf16))
f_saved_f16 = gradcheck(args=(normal(3),))(saved_as(f16))
f_primal_f32 = gradcheck(args=(normal(3),))(primal_as(f32))
f_primal_f32_given = gradcheck(args=(TENTHS,))(primal_as(f32))
f_primal_bf16 = gradcheck(args=(normal(3),))(primal_as(bf16))
f_exp_saved_f32 = gradcheck(args=(normal(3),))(exp_saved(f32))
f_product_saved_f32 = gradcheck(args=(normal(3, 3), normal(3)))(product_saved(f32))
f_slope_f32 = gradcheck(args=(normal(3),))(with_vjp(lambda x: 0.1 * x, lambda r, ct: (ct * narrow(0.1 + 0 * ct, f32),)))

# The same inside a layer.
f_layer_saved_f32 = gradcheck(args=(normal(4), normal(4)))(lambda x, w: jnp.sum(saved_as(f32)(x) * w))
f_layer_saved_deep = gradcheck(args=(normal(4), normal(4)))(lambda x, w: jnp.sum(saved_as(f32)(x * w)))
f_layer_saved_bf16 = gradcheck(args=(normal(4), normal(4)))(lambda x, w: jnp.sum(saved_as(bf16)(x) * w))
f_layer_primal_f32 = gradcheck(args=(normal(4), normal(4)))(lambda x, w: jnp.sum(primal_as(f32)(x) * w))
f_layer_exp_saved = gradcheck(args=(normal(4),))(lambda x: jnp.sum(exp_saved(f32)(x) ** 2))
f_layer_product_saved = gradcheck(args=(normal(3, 3), normal(3)))(lambda a, x: jnp.sum(product_saved(f32)(a, x) ** 2))
f_layer_vmapped = gradcheck(args=(normal(3),))(
    lambda x: jnp.sum(jax.vmap(with_jvp(jnp.sin, lambda p, t: jnp.cos(narrow(p[0], f32)) * t[0]))(x))
)
f_layer_many_saved = gradcheck(args=(normal(100),))(lambda x: jnp.sum(saved_as(f32)(x)))

# Cotangents in fewer bits.
f_sent_bf16 = gradcheck(args=(normal(3),))(sent_as(bf16))
f_sent_bf16_sine = gradcheck(args=(normal(3),))(lambda x: sent_as(bf16)(jnp.sin(x)))
f_sent_bf16_sum = gradcheck(args=(normal(3),))(lambda x: jnp.sum(sent_as(bf16)(jnp.sin(x))))
f_sent_f32_sum = gradcheck(args=(normal(3),))(lambda x: jnp.sum(sent_as(f32)(jnp.sin(x))))
f_sent_f16_layer = gradcheck(args=(normal(3), normal(3)))(lambda x, w: jnp.sum(sent_as(f16)(x) * w))
f_sent_f32_layer = gradcheck(args=(TENTHS, TENTHS))(lambda x, w: jnp.sum(sent_as(f32)(x) * w))
f_sent_f32_squares = gradcheck(args=(normal(3),))(lambda x: jnp.sum(sent_as(f32)(x) ** 2))

# VJPs that are not linear in the cotangent.
f_normed = gradcheck(args=(normal(3),))(
    lambda x: sine_by(lambda c: c / jnp.maximum(1e-30, jnp.max(jnp.abs(c))))(x) * 1.0
)
f_abs = gradcheck(args=(normal(3),))(lambda x: sine_by(jnp.abs)(x) * 1.0)
f_clip_2 = gradcheck(args=(normal(3),))(lambda x: sine_by(lambda c: jnp.clip(c, -2.0, 2.0))(x) * 1.0)
f_clip_norm = gradcheck(args=(normal(3),))(
    lambda x: sine_by(lambda c: c / jnp.maximum(1.0, jnp.linalg.norm(c) / 5.0))(x) * 1.0
)
f_positive_only = gradcheck(args=(normal(3),))(lambda x: jnp.sum(sine_by(jax.nn.relu)(x)))
f_squared = gradcheck(args=(normal(3),))(lambda x: jnp.sum(sine_by(jnp.square)(x)))
f_abs_of_sum = gradcheck(args=(normal(3),))(lambda x: jnp.sum(sine_by(jnp.abs)(x)))
f_clip_large = gradcheck(args=(normal(3),))(lambda x: jnp.sum(sine_by(lambda c: jnp.clip(c, -100.0, 100.0))(x)))
f_added = gradcheck(args=(normal(3),))(lambda x: jnp.sum(sine_by(lambda c: c + 1e-3)(x)))
f_abs_itself = gradcheck(args=(normal(3),))(sine_by(jnp.abs))

# A rule whose error ripples with the point.
fu_ripple = gradcheck(args=(0.7,))(
    with_jvp(jnp.sin, lambda p, t: jnp.cos(p[0]) * (1 + 1e-4 * jnp.sin(1e17 * p[0])) * t[0])
)
