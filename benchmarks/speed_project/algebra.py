"""Linear algebra."""

import jax
import jax.numpy as jnp

from gradhook import gradcheck, normal, spd


@gradcheck(args=(normal(3, 3), normal(3, 3)))
def product(a, b):
    return a @ b - b @ a


@gradcheck(args=(spd(3),))
def cholesky(a):
    return jnp.linalg.cholesky(a)


@gradcheck(args=(spd(3),))
def inverse_trace(a):
    return jnp.trace(jnp.linalg.inv(a))


@gradcheck(args=(spd(3),))
def largest_eigenvalues(a):
    return jnp.linalg.eigvalsh(a)


@gradcheck(args=(normal(4, 3),))
def frobenius(a):
    return jnp.linalg.norm(a)


@gradcheck(args=(spd(3), normal(3)))
def mahalanobis(a, x):
    return jnp.sqrt(x @ jnp.linalg.solve(a, x))


@gradcheck(args=(spd(3), normal(3)))
def triangular(a, b):
    return jax.scipy.linalg.solve_triangular(a, b, lower=True)


@gradcheck(args=(normal(3, 3),))
def exponential(a):
    return jax.scipy.linalg.expm(0.2 * a)


@gradcheck(args=(normal(3, 2), normal(2, 3)))
def determinant(a, b):
    return jnp.linalg.det(jnp.eye(3) + 0.1 * a @ b)


@gradcheck(args=(normal(3, 4), normal(4, 2)))
def einsum(a, b):
    return jnp.einsum("ij,jk,ik->k", a, b, jnp.tanh(a @ b))


@gradcheck(args=(normal(3), normal(3)))
def cross(a, b):
    return jnp.cross(a, b) / (1 + a @ a)
