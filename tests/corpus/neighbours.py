"""What lies between the reported faults: claims of exactness of the same kinds as theirs, wrong and right ones."""

import jax
import jax.numpy as jnp
import numpy as np

from gradhook import gradcheck

EXPECT = {
    "one_millionth_too_steep": ("fail", "GRD101", "x"),
    "one_element_of_two_hundred": ("fail", "GRD101", "x"),
    "normalisation_without_its_variance": ("fail", "GRD102", "x"),
    "kernel_that_is_not_flipped": ("fail", "GRD102", "x"),
    "mean_in_place_of_a_sum": ("fail", "GRD102", "bias"),
    "exponent_forgotten": ("fail", "GRD102"),
    "leaf_without_a_cotangent": ("fail", "GRD102"),
    "squared_hypotenuse_at_zero": ("fail", "GRD103", "x"),
    "rotation_vector_at_zero": ("fail", "GRD105", "w"),
    "parts_of_their_sum": ("pass",),
    "mask_of_one_shape": ("pass",),
    "normalisation": ("pass",),
    "root_with_a_derivative": ("pass",),
    "function_of_a_symmetric_matrix": ("pass",),
    "bump_that_is_narrow": ("pass",),
}

X = np.array([1.0, 2.0, -0.5, 0.7])


@gradcheck(args=(X,), modes=("fwd", "rev"))
@jax.custom_jvp
def one_millionth_too_steep(x):
    """The tolerance is not multiplied by a size, and none hides 1e-6 (of the kind of jax-ml/jax#3130)."""
    return jnp.tanh(x)


one_millionth_too_steep.defjvp(
    lambda p, t: (one_millionth_too_steep(p[0]), (1 - jnp.tanh(p[0]) ** 2) * t[0] * (1 + 1e-6))
)


@gradcheck(args=(np.linspace(-2.0, 2.0, 200),), modes=("fwd", "rev"))
@jax.custom_jvp
def one_element_of_two_hundred(x):
    """Off by 1e-3 in element 137 alone (of the kind of jax-ml/jax#3130)."""
    return jnp.sin(x)


@one_element_of_two_hundred.defjvp
def _one_element_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    return one_element_of_two_hundred(x), jnp.cos(x) * dx * jnp.where(jnp.arange(x.size) == 137, 1.001, 1.0)


def _normalised(x):
    return (x - x.mean()) / jnp.sqrt(x.var() + 1e-5)


@gradcheck(args=(X,), order=2, modes=("rev",))
@jax.custom_vjp
def normalisation_without_its_variance(x):
    """The pullback takes the variance for a constant (of the kind of jax-ml/jax#10134)."""
    return _normalised(x)


normalisation_without_its_variance.defvjp(
    lambda x: (normalisation_without_its_variance(x), x),
    lambda x, g: ((g - g.mean()) / jnp.sqrt(x.var() + 1e-5),),
)


@gradcheck(args=(X,), order=2, modes=("rev",))
@jax.custom_vjp
def normalisation(x):
    """Right: the same with its variance (of the kind of jax-ml/jax#10134)."""
    return _normalised(x)


def _normalisation_backward(x, g):
    y = _normalised(x)
    return ((g - g.mean() - y * (g * y).mean()) / jnp.sqrt(x.var() + 1e-5),)


normalisation.defvjp(lambda x: (normalisation(x), x), _normalisation_backward)


@gradcheck(args=(X, np.array([0.5, -1.0, 0.2])), modes=("rev",))
@jax.custom_vjp
def kernel_that_is_not_flipped(x, w):
    """The pullback of a convolution convolves once more, and does not correlate (of the kind of jax-ml/jax#1521)."""
    return jnp.convolve(x, w, mode="valid")


kernel_that_is_not_flipped.defvjp(
    lambda x, w: (kernel_that_is_not_flipped(x, w), (x, w)),
    lambda saved, g: (
        jnp.convolve(g, saved[1], mode="full"),
        jnp.convolve(saved[0], g[::-1], mode="valid")[::-1],
    ),
)


@gradcheck(args=(np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0])), modes=("rev",))
@jax.custom_vjp
def mean_in_place_of_a_sum(x, bias):
    """The cotangent of what was broadcast is a mean over the rows (of the kind of jax-ml/jax#1521)."""
    return x + bias


mean_in_place_of_a_sum.defvjp(lambda x, bias: (x + bias, None), lambda _, g: (g, g.mean(0)))


def _power(n, x):
    return x**n


_ruled_power = jax.custom_vjp(_power, nondiff_argnums=(0,))
_ruled_power.defvjp(lambda n, x: (_ruled_power(n, x), x), lambda n, x, g: (x ** (n - 1) * g,))


@gradcheck(args=(np.array([1.1, 2.0]),), modes=("rev",))
def exponent_forgotten(x):
    """An argument in nondiff_argnums, and a rule without its factor n (of the kind of jax-ml/jax#4617)."""
    return _ruled_power(3, x)


@gradcheck(args=({"scale": np.float64(1.2), "shift": np.float64(0.3)},), modes=("rev",))
@jax.custom_vjp
def leaf_without_a_cotangent(tree):
    """None for a leaf is a silent zero (of the kind of jax-ml/jax#17496, andylolu2/jax-vqvae-gpt#2)."""
    return tree["scale"] * tree["shift"] ** 2


leaf_without_a_cotangent.defvjp(
    lambda tree: (leaf_without_a_cotangent(tree), tree),
    lambda tree, g: ({"scale": g * tree["shift"] ** 2, "shift": None},),
)


@gradcheck(args=(np.float64(0.0), np.float64(0.0)), order=2, modes=("fwd", "rev"))
def squared_hypotenuse_at_zero(x, y):
    """Smooth; the slope at 0 is right, the curvature through the kink is 1/2 or 1, not 2 (jax-ml/jax#4177)."""
    return jnp.hypot(x, y) ** 2


@gradcheck(args=(np.zeros(3),), modes=("fwd", "rev"))
def rotation_vector_at_zero(w):
    """sin(|w|) / |w| guarded by one where, behind a square root (of the kind of jax-ml/jax#5798)."""
    angle = jnp.sqrt(jnp.sum(w**2))
    return w * jnp.where(angle < 1e-8, 1.0, jnp.sin(angle) / angle)


@gradcheck(args=(np.array([0.2, 0.4, 0.9]),), order=2, modes=("rev",))
@jax.custom_vjp
def parts_of_their_sum(x):
    """Right: the rule is one for vectors, as is the function (of the kind of jax-ml/jax#3056)."""
    return x / jnp.sum(x)


def _parts_backward(x, g):
    total = jnp.sum(x)
    return (g / total - jnp.sum(g * x, axis=-1, keepdims=True) / total**2,)


parts_of_their_sum.defvjp(lambda x: (parts_of_their_sum(x), x), _parts_backward)


@gradcheck(args=(np.array([1.0, 2.0, 3.0]), np.array([True, False, True])), order=2, modes=("rev",))
@jax.custom_vjp
def mask_of_one_shape(x, mask):
    """Right: a boolean argument has no derivative, and its rule says None (of the kind of jax-ml/jax#18113)."""
    return jnp.where(mask, x, 0.0)


mask_of_one_shape.defvjp(
    lambda x, mask: (mask_of_one_shape(x, mask), mask), lambda mask, g: (jnp.where(mask, g, 0.0), None)
)


def _newton(a):
    def step(_, x):
        return x - (x**3 + a * x - 1.0) / (3.0 * x**2 + a)

    return jax.lax.fori_loop(0, 40, step, jnp.full_like(a, 0.5))


@gradcheck(args=(np.array([0.7, 1.5]),), order=2, modes=("rev",))
@jax.custom_vjp
def root_with_a_derivative(a):
    """Right: the saved root has the rule, so the second order has it too (of the kind of google/jaxopt#141)."""
    return _newton(a)


def _root_forward(a):
    root = root_with_a_derivative(a)
    return root, (root, a)


root_with_a_derivative.defvjp(_root_forward, lambda saved, g: (-saved[0] / (3.0 * saved[0] ** 2 + saved[1]) * g,))


@gradcheck(args=(np.array([[2.0, 0.3], [0.3, 1.0]]),), order=2, modes=("fwd", "rev"))
def function_of_a_symmetric_matrix(a):
    """Right: the square root of a matrix through its eigenvectors (of the kind of jax-ml/jax#2311)."""
    values, vectors = jnp.linalg.eigh((a + a.T) / 2)
    return (vectors * jnp.sqrt(values)) @ vectors.T


@gradcheck(args=(np.array([0.3 + 4e-6, 0.3 - 7e-6]),), order=2, modes=("fwd", "rev"))
def bump_that_is_narrow(x):
    """Right: a usual step does not see the bump at all (of the kind of jax-ml/jax#641)."""
    return jnp.exp(-(((x - 0.3) / 1e-5) ** 2))
