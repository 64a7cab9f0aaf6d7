"""More inputs than are asked one by one: leaves and elements of small derivative, swaps, errors that cancel.

Truth: sums of ``weight * sin(element)``, whose derivative is ``weight * cos(element)``.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from sabotage import raised, swapped, with_jvp, wrong, wrong_element, wrong_leaf

from gradhook import gradcheck, normal


def two(big, small):
    """Two leaves, whose derivatives are of size ``big`` and ``small``."""
    return lambda a, b: big * jnp.sum(jnp.sin(a)) + small * jnp.sum(jnp.sin(b))


def waves(x):
    """A sum of equal parts."""
    return jnp.sum(jnp.sin(x))


def tree(leaves, size=3):
    """A dict of drawn leaves ``w000``, ``w001``, …"""
    return {f"w{i:03}": normal(size) for i in range(leaves)}


def spread(orders):
    """The sum over the leaves of a dict, whose weights fall by ``orders`` powers of ten from the first to the last."""

    def f(parameters):
        leaves = [parameters[name] for name in sorted(parameters)]
        weights = np.logspace(0, -orders, len(leaves))
        return sum(w * jnp.sum(jnp.sin(leaf)) for w, leaf in zip(weights, leaves, strict=True))

    return f


# Two leaves of 50: the small one is lost, of wrong sign, or off.
f_two_1e6_lost = gradcheck(args=(normal(50), normal(50)))(wrong(two(1e6, 1e-6), 1, 0.0))
f_two_1e5_1e6_sign = gradcheck(args=(normal(50), normal(50)))(wrong(two(1e5, 1e-6), 1, -1.0))
f_two_1e5_1e4_percent = gradcheck(args=(normal(50), normal(50)))(wrong(two(1e5, 1e-4), 1, 1.01))
f_two_1e4_1e3_1e3 = gradcheck(args=(normal(50), normal(50)))(wrong(two(1e4, 1e-3), 1, 1.001))
f_two_1e3_1e4_1e4 = gradcheck(args=(normal(50), normal(50)))(wrong(two(1e3, 1e-4), 1, 1.0001))
f_two_1_1e12_half = gradcheck(args=(normal(50), normal(50)))(wrong(two(1.0, 1e-12), 1, 0.5))
f_two_1_1e15_sign = gradcheck(args=(normal(50), normal(50)))(wrong(two(1.0, 1e-15), 1, -1.0))
f_few_1e6_lost = gradcheck(args=(normal(5), normal(5)))(wrong(two(1e6, 1e-6), 1, 0.0))
f_few_1e5_1e6_sign = gradcheck(args=(normal(5), normal(5)))(wrong(two(1e5, 1e-6), 1, -1.0))
f_few_1e5_1e4_percent = gradcheck(args=(normal(5), normal(5)))(wrong(two(1e5, 1e-4), 1, 1.01))
f_few_1e4_1e3_1e3 = gradcheck(args=(normal(5), normal(5)))(wrong(two(1e4, 1e-3), 1, 1.001))
f_few_1e3_1e4_1e4 = gradcheck(args=(normal(5), normal(5)))(wrong(two(1e3, 1e-4), 1, 1.0001))
p_two_1e6 = gradcheck(args=(normal(50), normal(50)))(two(1e6, 1e-6))
p_two_1e12 = gradcheck(args=(normal(50), normal(50)))(two(1.0, 1e-12))
p_few_1e6 = gradcheck(args=(normal(5), normal(5)))(two(1e6, 1e-6))


@gradcheck(args=(normal(40), normal(40)))
def f_forgotten(w, b):
    """Truth by b: 2e-8 * b, claimed 0."""
    return 1e3 * jnp.sum(jnp.sin(w)) + 1e-8 * jax.lax.stop_gradient(jnp.sum(b * b))


@gradcheck(args=(normal(40), normal(40)))
def f_forgotten_part(w, b):
    """Truth by b: 1e-4 * (cos(b) + 1e-4), claimed 1e-4 * cos(b)."""
    return 1e3 * jnp.sum(jnp.sin(w)) + 1e-4 * jnp.sum(jnp.sin(b) + 1e-4 * jax.lax.stop_gradient(b))


@gradcheck(args=(normal(100),))
def f_forgotten_element(x):
    """Truth by x[17] has 1e-6 besides."""
    return jnp.sum(x**2) + 1e-6 * jax.lax.stop_gradient(x[17])


# One element among many.
f_element_65 = gradcheck(args=(normal(65),))(wrong_element(waves, 64, 1 + 1e-6))
f_element_1k = gradcheck(args=(normal(1000),))(wrong_element(waves, 998, 1 + 1e-6))
f_element_10k = gradcheck(args=(normal(10_000),))(wrong_element(waves, 77, 1 + 1e-6))
f_element_100k = gradcheck(args=(normal(100_000),))(wrong_element(waves, 3, 1 + 1e-6))
f_element_lost = gradcheck(args=(normal(200),))(wrong_element(waves, 150, 0.0))
f_element_sign = gradcheck(args=(normal(2000),))(wrong_element(waves, 0, -1.0))
p_elements_65 = gradcheck(args=(normal(65),))(waves)
p_elements_10k = gradcheck(args=(normal(10_000),))(waves)

# Two elements exchanged, or wrong so that a fixed set of weights would not see it.
f_swap_20_22 = gradcheck(args=(normal(100),))(swapped(waves, 20, 22))
f_swap_60_64 = gradcheck(args=(normal(100),))(swapped(waves, 60, 64))
f_swap_69_86 = gradcheck(args=(normal(100),))(swapped(waves, 69, 86))
f_swap_20_21 = gradcheck(args=(normal(100),))(swapped(waves, 20, 21))
f_raised_1_74 = gradcheck(args=(normal(100),))(raised(waves, 0.5, 1, 74))
f_raised_62_72 = gradcheck(args=(normal(100),))(raised(waves, 0.5, 62, 72))
f_raised_85_88 = gradcheck(args=(normal(100),))(raised(waves, 1e-3, 85, 88))
f_swap_120 = gradcheck(args=(normal(10_000),))(swapped(waves, 120, 121))
f_swap_1016 = gradcheck(args=(normal(10_000),))(swapped(waves, 1016, 1017))
f_swap_2474 = gradcheck(args=(normal(10_000),))(swapped(waves, 2474, 2475))
f_swap_3448 = gradcheck(args=(normal(10_000),))(swapped(waves, 3448, 3449))
f_swap_4018 = gradcheck(args=(normal(10_000),))(swapped(waves, 4018, 4019))
f_swap_7340 = gradcheck(args=(normal(10_000),))(swapped(waves, 7340, 7341))
f_reversed = gradcheck(args=(normal(80),))(with_jvp(waves, lambda p, t: jnp.vdot(jnp.cos(p[0])[::-1], t[0])))
f_rolled = gradcheck(args=(normal(80),))(with_jvp(waves, lambda p, t: jnp.vdot(jnp.roll(jnp.cos(p[0]), 1), t[0])))
f_transposed = gradcheck(args=(normal(9, 9),))(with_jvp(waves, lambda p, t: jnp.vdot(jnp.cos(p[0]).T, t[0])))

# One leaf whose elements span six orders of magnitude; one small element is off.
SIX = np.logspace(0, -6, 100)
fu_six_smallest_1e3 = gradcheck(args=(normal(100),))(wrong_element(lambda x: jnp.sum(SIX * jnp.sin(x)), 99, 1.001))
fu_six_middle_1e3 = gradcheck(args=(normal(100),))(wrong_element(lambda x: jnp.sum(SIX * jnp.sin(x)), 50, 1.001))
fu_six_smallest_lost = gradcheck(args=(normal(100),))(wrong_element(lambda x: jnp.sum(SIX * jnp.sin(x)), 99, 0.0))
f_six_largest_1e6 = gradcheck(args=(normal(100),))(wrong_element(lambda x: jnp.sum(SIX * jnp.sin(x)), 0, 1 + 1e-6))
p_six = gradcheck(args=(normal(100),))(lambda x: jnp.sum(SIX * jnp.sin(x)))

# Trees of leaves whose derivatives differ by up to 1e12.
f_tree2_last_lost = gradcheck(args=(tree(2, 40),))(wrong_leaf(spread(12), "w001", 0.0))
f_tree2_last_1e4 = gradcheck(args=(tree(2, 40),))(wrong_leaf(spread(6), "w001", 1.0001))
f_tree5_last_sign = gradcheck(args=(tree(5, 20),))(wrong_leaf(spread(12), "w004", -1.0))
f_tree5_middle_1e4 = gradcheck(args=(tree(5, 20),))(wrong_leaf(spread(12), "w002", 1.0001))
f_tree20_last_lost = gradcheck(args=(tree(20, 5),))(wrong_leaf(spread(12), "w019", 0.0))
f_tree20_last_percent = gradcheck(args=(tree(20, 5),))(wrong_leaf(spread(12), "w019", 1.01))
f_tree20_middle_1e4 = gradcheck(args=(tree(20, 5),))(wrong_leaf(spread(12), "w010", 1.0001))
f_tree20_first_1e4 = gradcheck(args=(tree(20, 5),))(wrong_leaf(spread(12), "w000", 1.0001))
f_tree20_small_sign = gradcheck(args=(tree(20, 2),))(wrong_leaf(spread(9), "w018", -1.0))
f_tree100_last_lost = gradcheck(args=(tree(100, 2),))(wrong_leaf(spread(12), "w099", 0.0))
f_tree100_middle_percent = gradcheck(args=(tree(100, 2),))(wrong_leaf(spread(8), "w060", 1.01))
f_tree300_last_sign = gradcheck(args=(tree(300, 1),))(wrong_leaf(spread(6), "w299", -1.0))
p_tree2 = gradcheck(args=(tree(2, 40),))(spread(12))
p_tree5 = gradcheck(args=(tree(5, 20),))(spread(12))
p_tree20 = gradcheck(args=(tree(20, 5),))(spread(12))
p_tree100 = gradcheck(args=(tree(100, 2),))(spread(12))
p_scalars100 = gradcheck(args=({f"w{i}": 0.1 * i for i in range(100)},))(lambda p: sum(map(jnp.sin, p.values())))
p_scalars250 = gradcheck(args=({f"w{i}": 0.1 * i for i in range(250)},))(lambda p: sum(map(jnp.sin, p.values())))
