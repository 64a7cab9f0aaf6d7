"""Linear algebra: ``jax.numpy.linalg`` and ``jax.scipy.linalg``."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import jax.scipy.linalg as jsl
import mpmath as mp
import numpy as np

from catalogue.records import Entry, kink, several, wrong

V = [0.7, -1.3, 2.4]
A = np.array([[2.7, -1.3, 0.2], [0.4, 1.9, -0.6], [-0.3, 0.8, 3.1]])
SPD = np.array([[2.7, 0.3, 0.2], [0.3, 1.9, -0.6], [0.2, -0.6, 3.1]])
RANK2 = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
HILBERT = np.array([[1 / (i + j + 1) for j in range(4)] for i in range(4)])
B = np.array([[0.5, 0.4], [1.2, -0.9], [0.3, 1.1]])
TALL = np.array([[0.7, -1.3], [2.4, 0.3], [-0.5, 1.1]])


def sym(f: Any) -> Any:
    """A function of the symmetric part, for those that read one triangle or assume symmetry."""
    return lambda a: f((a + a.T) / 2)


def msym(a: Any) -> Any:
    m = mp.matrix(a)
    return (m + m.T) / 2


def det(a: Any) -> Any:
    """By permutations: exact at singular matrices."""
    if len(a) == 1:
        return a[0][0]
    return mp.fsum((-1) ** j * a[0][j] * det([row[:j] + row[j + 1 :] for row in a[1:]]) for j in range(len(a)))


def inverse(a: Any) -> Any:
    return mp.matrix(a) ** -1


def eigenvalues(a: Any) -> Any:
    """In the order of LAPACK, real parts before imaginary ones."""
    found = list(mp.eig(mp.matrix(a), left=False, right=False))
    ordered = [min(found, key=lambda v: abs(v - mp.mpc(w))) for w in np.linalg.eigvals(A)]
    return [*map(mp.re, ordered), *map(mp.im, ordered)]


def frobenius(a: Any) -> Any:
    return mp.sqrt(mp.fsum(v * v for row in a for v in row))


ENTRIES: tuple[Entry, ...] = (
    several(
        "jnl.det",
        jnp.linalg.det,
        [
            (A,),
            (np.eye(3),),
            (RANK2,),
            (np.diag([2.0, 3.0, 0.0]),),
            (np.diag([0.0, 2.0, 3.0]),),
            (np.diag([2.0, 0.0, 3.0]),),
            (np.zeros((3, 3)),),
        ],
        det,
        {
            4: wrong("zero pivot that is not the last: the adjugate is not 0"),
            5: wrong("zero pivot that is not the last: the adjugate is not 0"),
        },
    ),
    several(
        "jnl.det (2x2)", jnp.linalg.det, [(A[:2, :2],), ([[0.0, 0.0], [0.0, 1.0]],), ([[1.0, 1.0], [1.0, 1.0]],)], det
    ),
    several("jnl.det (4x4)", jnp.linalg.det, [(HILBERT,), (np.diag([0.0, 1.0, 2.0, 3.0]),)], det),
    several(
        "jnl.slogdet", lambda a: jnp.linalg.slogdet(a)[1], [(A,), (np.eye(3),), (-SPD,)], lambda a: mp.log(abs(det(a)))
    ),
    several("jnl.inv", jnp.linalg.inv, [(A,), (np.eye(3),), (SPD,)], inverse),
    several("jnl.inv (Hilbert)", jnp.linalg.inv, [(HILBERT,)], inverse),
    several("jnl.pinv", jnp.linalg.pinv, [(TALL,)], lambda a: (mp.matrix(a).T * mp.matrix(a)) ** -1 * mp.matrix(a).T),
    several("jnl.solve", jnp.linalg.solve, [(A, B), (np.eye(3), B)], lambda a, b: inverse(a) * mp.matrix(b)),
    several("jnl.lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], [(TALL, V)], None),
    several("jnl.cholesky", jnp.linalg.cholesky, [(SPD,), (np.eye(3),)], lambda a: mp.cholesky(msym(a))),
    several("jnl.qr", jnp.linalg.qr, [(A,), (TALL,)][:1], None),
    several("jnl.qr (tall)", jnp.linalg.qr, [(TALL,)], None),
    several(
        "jnl.svdvals",
        jnp.linalg.svdvals,
        [(A,), (TALL @ TALL.T + np.eye(3),), (np.eye(3),)],
        None,
        {2: kink("equal singular values")},
    ),
    several("jnl.svd", lambda a: jnp.linalg.svd(a, full_matrices=False), [(A,)], None),
    several(
        "jnl.eigvalsh",
        jnp.linalg.eigvalsh,
        [(SPD,), (np.diag([1.0, 2.0, 3.0]),), (np.eye(3),)],
        lambda a: mp.eigsy(msym(a), eigvals_only=True),
        {2: kink("equal eigenvalues")},
    ),
    several("jnl.eigh", jnp.linalg.eigh, [(SPD,)], None),
    several("jnl.eigvals", jnp.linalg.eigvals, [(A,)], eigenvalues, order=1),
    several(
        "jnl.norm",
        jnp.linalg.norm,
        [(V,), ([0.0, 0.0, 0.0],), ([1.0, 1.0, 1.0],), ([1e-10, 1e-10, 0.0],), ([1e10, 1.0, 0.0],)],
        lambda x: mp.sqrt(mp.fsum(v * v for v in x)),
        {1: wrong("nan at 0, where the value is finite")},
    ),
    several(
        "jnl.norm (1)",
        lambda x: jnp.linalg.norm(x, 1),
        [(V,), ([1.0, 0.0, 1.0],)],
        lambda x: mp.fsum(abs(v) for v in x),
        {1: kink()},
    ),
    several(
        "jnl.norm (inf)",
        lambda x: jnp.linalg.norm(x, jnp.inf),
        [(V,), ([1.0, 1.0, 1.0],)],
        lambda x: max(abs(v) for v in x),
        {1: kink()},
    ),
    several(
        "jnl.norm (3)",
        lambda x: jnp.linalg.norm(x, 3),
        [(V,), ([1.0, 1.0, 1.0],)],
        lambda x: mp.cbrt(mp.fsum(abs(v) ** 3 for v in x)),
    ),
    several("jnl.norm (fro)", jnp.linalg.norm, [(A,), (np.eye(3),)], frobenius),
    several("jnl.norm (nuc)", lambda a: jnp.linalg.norm(a, "nuc"), [(A,)], None),
    several("jnl.norm (2)", lambda a: jnp.linalg.norm(a, 2), [(A,)], None),
    several("jnl.cond", jnp.linalg.cond, [(A,), (HILBERT[:3, :3],)], None),
    several(
        "jnl.matrix_power", lambda a: jnp.linalg.matrix_power(a, 3), [(A,), (np.eye(3),)], lambda a: mp.matrix(a) ** 3
    ),
    several("jnl.matrix_power (-2)", lambda a: jnp.linalg.matrix_power(a, -2), [(A,)], lambda a: inverse(a) ** 2),
    several("jnl.multi_dot", lambda a, b: jnp.linalg.multi_dot([a, b, a[:2]]), [(A, B)], None),
    several("jnl.tensorinv", lambda a: jnp.linalg.tensorinv(a.reshape(2, 2, 4), ind=2), [(HILBERT + np.eye(4),)], None),
    several("jnl.vecdot", jnp.linalg.vecdot, [(V, [0.3, 1.7, -0.4])], mp.fdot),
    several(
        "jsl.expm",
        jsl.expm,
        [(A,), (np.zeros((3, 3)),), (np.eye(3),), (10 * A,)],
        lambda a: mp.expm(mp.matrix(a)),
        order=1,
    ),
    several("jsl.solve_triangular", lambda a, b: jsl.solve_triangular(a, b, lower=True), [(A, V)], None),
    several("jsl.lu", lambda a: jsl.lu(a)[1:], [(A,), (np.eye(3),)], None),
    several("jsl.lu_factor", lambda a: jsl.lu_factor(a)[0], [(A,)], None),
    several(
        "jsl.lu_solve",
        lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b),
        [(A, V)],
        lambda a, b: inverse(a) * mp.matrix(b),
        ordinary=0,
    ),
    several(
        "jsl.solve (pos)",
        lambda a, b: jsl.solve((a + a.T) / 2, b, assume_a="pos"),
        [(SPD, V)],
        lambda a, b: msym(a) ** -1 * mp.matrix(b),
    ),
    several("jsl.block_diag", jsl.block_diag, [(A[:2, :2], B[:2])], None),
    several("jsl.toeplitz", jsl.toeplitz, [(V,)], None),
    several("jsl.eigh", lambda a: jsl.eigh(a, eigvals_only=True), [(SPD,)], None),
    several("jsl.polar", lambda a: jsl.polar(a, method="svd")[1], [(A,)], None, order=1),
    several(
        "jsl.expm_frechet",
        lambda a, e: jsl.expm_frechet(a, e, compute_expm=False),
        [(A[:2, :2], B[:2])],
        None,
        order=1,
        ordinary=0,
    ),
)
