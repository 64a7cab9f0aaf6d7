"""Rules that are wrong in one argument, one entry or one combination of arguments: claims of exactness, all wrong."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

EXPECT = {
    "gather_from_a_broadcast_row": ("fail", "GRD102", "table"),
    "ghost_entry_of_cholesky": ("fail", "GRD101", "a"),
    "cell_held_constant": ("fail", "GRD110", "box"),
    "end_time_held_constant": ("fail", "GRD101", "t1"),
    "branch_for_one_argument_alone": ("fail", "GRD205"),
}

COLUMNS, ROWS = np.array([0, 2, 1, 2, 0]), np.arange(5)


@gradcheck(args=(np.array([[0.5, -1.0, 2.0]]),), order=2, modes=("rev",))
@jax.custom_vjp
def gather_from_a_broadcast_row(table):
    """The pullback scatters into the table before its broadcast and drops rows 1 to 4 (jax-ml/jax#1521)."""
    return jnp.broadcast_to(table, (5, 3))[ROWS, COLUMNS]


gather_from_a_broadcast_row.defvjp(
    lambda table: (gather_from_a_broadcast_row(table), None),
    lambda _, g: (jnp.zeros((1, 3), g.dtype).at[ROWS, COLUMNS].add(g, mode="drop"),),
)


def _upper_factor(a):
    full = jnp.triu(a) + jnp.triu(a, 1).T
    return jnp.linalg.cholesky(full).T


@gradcheck(args=(np.array([[4.0, 1.0], [1.0, 3.0]]),), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def ghost_entry_of_cholesky(a):
    """The value reads the upper triangle only, the rule gives the lower entry a slope too (jax-ml/jax#40421)."""
    return _upper_factor(a)


@ghost_entry_of_cholesky.defjvp
def _ghost_rule(primals, tangents):
    (a,), (da,) = primals, tangents
    return jax.jvp(_upper_factor, (a,), (0.5 * (da + da.T),))


@jax.custom_jvp
def _to_real(box, fractions):
    return fractions @ box.T


@_to_real.defjvp
def _to_real_rule(primals, tangents):
    box, fractions = primals
    _, d_fractions = tangents
    return _to_real(box, fractions), d_fractions @ box.T


CELL = np.array([[1.2, 0.1], [0.0, 0.9]])
ATOMS = np.array([[0.1, 0.2], [0.6, 0.5], [0.3, 0.9]])


@gradcheck(args=(CELL, ATOMS), order=2, modes=("fwd", "rev"))
def cell_held_constant(box, fractions):
    """The rule of the coordinates takes the cell for a constant: its stress is zero (jax-md/jax-md#116)."""
    r = _to_real(box, fractions)
    d = r[1:] - r[:1]
    return jnp.sum(jnp.exp(-jnp.sum(d * d, axis=-1)))


def _integrate(y0, t1, k, steps=20):
    h = t1 / steps
    return jax.lax.fori_loop(0, steps, lambda i, y: y + h * (jnp.sin(i * h) - k * y), y0)


@gradcheck(args=(np.float64(1.3), np.float64(2.0), np.float64(0.7)), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def end_time_held_constant(y0, t1, k):
    """The rule of the integrator ignores the tangent of the end time (jax-ml/jax#10134)."""
    return _integrate(y0, t1, k)


@end_time_held_constant.defjvp
def _end_time_rule(primals, tangents):
    y0, t1, k = primals
    d_y0, _, d_k = tangents
    return jax.jvp(lambda y, q: _integrate(y, t1, q), (y0, k), (d_y0, d_k))


@gradcheck(args=(np.float64(2.0), np.float64(3.0)), order=2, modes=("fwd", "rev"))
@jax.custom_jvp
def branch_for_one_argument_alone(x, y):
    """With a symbolic zero in one argument the rule forgets the other factor (jax-ml/jax#14833, #31448)."""
    return x * y


@partial(branch_for_one_argument_alone.defjvp, symbolic_zeros=True)
def _branching_rule(primals, tangents):
    x, y = primals
    dx, dy = tangents
    if isinstance(dy, jax.custom_derivatives.SymbolicZero):
        return x * y, dx
    if isinstance(dx, jax.custom_derivatives.SymbolicZero):
        return x * y, dy
    return x * y, dx * y + x * dy
