"""Values and derivatives given by the author, tiny, huge and of mixed size: each is compared on its own scale.

Truth: multiples, powers and sines, so the right numbers are known; the wrong ones are off by the factor in the name.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from sabotage import wrong

from gradhook import case, gradcheck

BOLTZMANN, CHARGE, PLANCK = 1.38e-23, 1.602e-19, 6.626e-34


def times(factor):
    """A multiple: the derivative is the factor."""
    return lambda x: factor * x


# Values.
f_boltzmann_half = gradcheck(cases={"c": case(300.0, value=4.14e-21)})(times(2 * BOLTZMANN))
f_value_1e12_half = gradcheck(cases={"c": case(1.0, value=5e-13)})(times(1e-12))
f_value_1e30_1e5 = gradcheck(cases={"c": case(1.0, value=1e-30 * (1 + 1e-5))})(times(1e-30))
f_value_1e100_1e6 = gradcheck(cases={"c": case(1.0, value=1e-100 * (1 + 1e-6))})(times(1e-100))
f_value_1e100_huge = gradcheck(cases={"c": case(1.0, value=1e100 * (1 + 1e-6))})(times(1e100))
f_value_planck_sign = gradcheck(cases={"c": case(5e14, value=-PLANCK * 5e14)})(times(PLANCK))
f_value_zero = gradcheck(cases={"c": case(1.0, value=0.0)})(times(1e-20))
f_value_vector = gradcheck(cases={"c": case(np.array([1.0, 1.0]), value=np.array([1e6, 2e-7]))})(
    lambda x: x * np.array([1e6, 1e-7])
)
f_value_vector_1e5 = gradcheck(cases={"c": case(np.array([1.0, 1.0]), value=np.array([1e10, 1e-10 * (1 + 1e-5)]))})(
    lambda x: x * np.array([1e10, 1e-10])
)
f_value_two_outputs = gradcheck(cases={"c": case(1.0, value=(1e8, 1e-8 * 1.01))})(lambda x: (1e8 * x, 1e-8 * x))
p_boltzmann = gradcheck(cases={"c": case(300.0, value=BOLTZMANN * 300)})(times(BOLTZMANN))
p_value_1e100 = gradcheck(cases={"c": case(1.0, value=1e-100)})(times(1e-100))
p_value_huge = gradcheck(cases={"c": case(1.0, value=1e100)})(times(1e100))
p_value_vector = gradcheck(cases={"c": case(np.array([1.0, 1.0]), value=np.array([1e6, 1e-7]))})(
    lambda x: x * np.array([1e6, 1e-7])
)
p_value_two_outputs = gradcheck(cases={"c": case(1.0, value=(1e8, 1e-8))})(lambda x: (1e8 * x, 1e-8 * x))
p_value_sine = gradcheck(cases={"c": case(0.7, value=1e-9 * math.sin(0.7))})(lambda x: 1e-9 * jnp.sin(x))
p_value_zero = gradcheck(cases={"c": case(0.0, value=0.0)})(times(1e-20))

# Derivatives.
f_derivative_1e12_half = gradcheck(cases={"c": case(1.0, derivative=5e-13)})(times(1e-12))
f_derivative_charge_1e5 = gradcheck(cases={"c": case(2.0, derivative=CHARGE * (1 + 1e-5))})(times(CHARGE))
f_derivative_1e50_percent = gradcheck(cases={"c": case(2.0, derivative=1.01e-50)})(times(1e-50))
f_derivative_huge_1e6 = gradcheck(cases={"c": case(2.0, derivative=1e50 * (1 + 1e-6))})(times(1e50))
f_derivative_sign = gradcheck(cases={"c": case(2.0, derivative=-1e-15)})(times(1e-15))
f_derivative_zero = gradcheck(cases={"c": case(2.0, derivative=0.0)})(times(1e-15))
f_derivative_vector = gradcheck(cases={"c": case(np.array([1.0, 1.0]), derivative=np.array([1e6, 2e-7]))})(
    lambda x: jnp.sum(x * np.array([1e6, 1e-7]))
)
f_derivative_vector_1e5 = gradcheck(
    cases={"c": case(np.array([1.0, 1.0]), derivative=np.array([1.0, 1e-9 * (1 + 1e-5)]))}
)(lambda x: jnp.sum(x * np.array([1.0, 1e-9])))
p_derivative_charge = gradcheck(cases={"c": case(2.0, derivative=CHARGE)})(times(CHARGE))
p_derivative_1e50 = gradcheck(cases={"c": case(2.0, derivative=1e-50)})(times(1e-50))
p_derivative_huge = gradcheck(cases={"c": case(2.0, derivative=1e50)})(times(1e50))
p_derivative_vector = gradcheck(cases={"c": case(np.array([1.0, 1.0]), derivative=np.array([1e6, 1e-7]))})(
    lambda x: jnp.sum(x * np.array([1e6, 1e-7]))
)
p_derivative_sine = gradcheck(cases={"c": case(0.7, derivative=1e-9 * math.cos(0.7))})(lambda x: 1e-9 * jnp.sin(x))

# A function for the derivative.
f_exact_1e12_third = gradcheck(args=(1.0,), exact=lambda x: 3e-13)(times(1e-12))
f_exact_1e30_1e5 = gradcheck(args=(1.0,), exact=lambda x: 1e-30 * (1 + 1e-5))(times(1e-30))
f_exact_rule_1e5 = gradcheck(args=(1.0, 1.0), exact=lambda x, y: (1e6, 1e-3 * jnp.cos(y)))(
    lambda x, y: 1e6 * x + wrong(lambda y: 1e-3 * jnp.sin(y), 0, 1 + 1e-5)(y)
)
f_exact_given_1e5 = gradcheck(args=(1.0, 1.0), exact=lambda x, y: (1e6, 1e-3 * (1 + 1e-5) * jnp.cos(y)))(
    lambda x, y: 1e6 * x + 1e-3 * jnp.sin(y)
)
f_exact_given_lost = gradcheck(args=(1.0, 1.0), exact=lambda x, y: (1e6, 0.0 * y))(lambda x, y: 1e6 * x + 1e-9 * y)
f_exact_given_sign = gradcheck(args=(1.0, 1.0), exact=lambda x, y: (1e6, -1e-9 + 0 * y))(
    lambda x, y: 1e6 * x + 1e-9 * y
)
f_exact_power = gradcheck(args=(1e-10,), exact=lambda x: 3 * x * x * 1.01)(lambda x: x**3)
p_exact_mixed = gradcheck(args=(1.0, 1.0), exact=lambda x, y: (1e6, 1e-3 * jnp.cos(y)))(
    lambda x, y: 1e6 * x + 1e-3 * jnp.sin(y)
)
p_exact_1e30 = gradcheck(args=(1.0,), exact=lambda x: 1e-30)(times(1e-30))
p_exact_power = gradcheck(args=(1e-10,), exact=lambda x: 3 * x * x)(lambda x: x**3)
