from __future__ import annotations

import pytest

NOTHING = "nothing checks it; claim it, or annotate its arguments by jaxtyping"
LITTLE = "what holds of every rule is checked, its derivative is not"
HEAD = "import jax, functools\nfrom jax import custom_vjp as cv\nfrom gradhook import gradcheck, surrogate\n"
CASES = {
    "decorators": (
        """
@jax.custom_jvp
def f(x): ...
@cv
def g(x): ...
@jax.custom_derivatives.custom_gradient
@jax.jit
def h(x): ...
@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def k(x, y): ...
@jax.custom_vjp(nondiff_argnums=(1,))
def m(x, y): ...
""",
        ["6 f custom_jvp", "8 g custom_vjp", "11 h custom_gradient", "13 k custom_jvp", "15 m custom_vjp"],
    ),
    "calls": (
        """
f = jax.custom_jvp(g)
h = jax.jit(functools.partial(cv, nondiff_argnums=(1,))(g))
class A:
    m = jax.custom_jvp(fun=g)
def make():
    @jax.custom_jvp
    def r(x): ...
    return cv(g)
""",
        [
            "5 f custom_jvp",
            "6 h custom_vjp",
            "8 A.m custom_jvp",
            "11 make.<locals>.r custom_jvp",
            "12 g custom_vjp",
        ],
    ),
    "claimed by a decorator in either order": (
        """
@gradcheck()
@jax.jit
@jax.custom_jvp
def f(x): ...
@cv
@surrogate()
def g(x): ...
@gradcheck()
def h(x): ...
h = cv(h)
""",
        [],
    ),
    "claimed by a call": (
        """
@jax.custom_jvp
def f(x): ...
gradcheck()(f)
g = gradcheck()(jax.jit(jax.custom_jvp(f)))
h = cv(gradcheck()(f))
k = jax.jit(cv(f))
kk = gradcheck()(k)
class A:
    @staticmethod
    @cv
    def m(x): ...
gradcheck()(A.m)
def test():
    r = cv(f)
    gradcheck()(r)
""",
        [],
    ),
    "a claim on another function of the name": (
        "@jax.custom_jvp\ndef f(x): ...\n@gradcheck()\ndef f(x): ...\ndef make():\n    f = 1\n    gradcheck()(f)\n",
        ["5 f custom_jvp"],
    ),
    "stored but not applied, compared, handed on": (
        "rule = cv(nondiff_argnums=(1,))\nisinstance(f, jax.custom_jvp)\n",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_rules_without_a_claim(project, text, expected):
    project.write("mod.py", HEAD + text)
    notices = project.scan().notices
    assert {n.code for n in notices} <= {"GRD501"}
    names = [n.message.replace("custom rule `", "").replace("` (jax.", " ").partition(")")[0] for n in notices]
    assert [f"{n.line} {name}" for n, name in zip(notices, names, strict=True)] == expected


def test_its_lines_are_where_a_comment_may_speak_of_it(project):
    project.write("mod.py", HEAD + "@jax.custom_jvp\ndef f(x): ...\nh = cv(\n    f)\n")
    assert [notice.lines for notice in project.scan().notices] == [(4, 5), (6, 7)]


def test_the_message_says_what_is_missing(project):
    project.write("mod.py", "import jax\n@jax.custom_jvp\ndef f(x): ...\n")
    (notice,) = project.scan().notices
    assert notice.message == "custom rule `f` (jax.custom_jvp) has no claim: " + NOTHING
    assert (notice.path, notice.line) == ("mod.py", 3)


def test_the_configuration_claims_by_name(project):
    project.write("pkg/__init__.py")
    project.write("pkg/mod.py", "import jax\n@jax.custom_jvp\ndef f(x): ...\ng = jax.custom_vjp(f)\n")
    assert [n.line for n in project.scan(configured=("pkg.mod:f",)).notices] == [4]


def test_a_file_of_claims_claims_what_it_imports(project):
    project.write("pkg/__init__.py")
    project.write("pkg/mod.py", "import jax\n@jax.custom_jvp\ndef f(x): ...\n@jax.custom_jvp\ndef g(x): ...\n")
    project.write("claims.py", "from gradhook import gradcheck\nfrom pkg import mod\ngradcheck()(mod.f)\n")
    assert [n.line for n in project.scan().notices] == [5]


SHAPED = {
    "jaxtyping": ('def f(x: Float[Array, "n d"], y: Int[Array, ""]): ...', True),
    "a text": ("def f(x: 'Float[Array, \"n\"]'): ...", True),
    "a union": ('def f(x: Float[Array, "n"] | None): ...', True),
    "an alias of the project": ("Image = Float[Array, 'h w']\n@jax.custom_jvp\ndef f(x: Image): ...", True),
    "an imported type": ("from pkg.types import Params\n@jax.custom_jvp\ndef f(x: Params): ...", True),
    "a plain number": ("def f(x: float): ...", True),
    "a default": ('def f(x: Float[Array, "n"], slope=1.0, *, how="relu"): ...', True),
    "a keyword without": ('def f(x: Float[Array, "n"], *, how): ...', False),
    "jax.Array": ("def f(x: jax.Array, y: jnp.ndarray): ...", False),
    "one without": ('def f(x: Float[Array, "n"], y): ...', False),
    "none": ("def f(x): ...", False),
    "nested": ('def make():\n    @jax.custom_jvp\n    def f(x: Float[Array, "n"]): ...', False),
    "bound again": ('def f(x: Float[Array, "n"]): ...\nf = None', False),
    "silenced": ('def f(x: Float[Array, "n"]): ...  # gradhook: ignore[GRD501]', False),
    "claimed": ('def f(x: Float[Array, "n"]): ...\ngradcheck()(f)', False),
}


@pytest.mark.parametrize(("text", "askable"), SHAPED.values(), ids=SHAPED)
def test_rules_whose_annotations_say_what_they_take_can_be_asked(project, text, askable):
    first = "" if "custom_jvp" in text else "@jax.custom_jvp\n"
    project.write("mod.py", f"{HEAD}import jax.numpy as jnp\nfrom jaxtyping import Array, Float, Int\n{first}{text}\n")
    scan = project.scan()
    assert [(t.name, t.claim, t.source) for t in scan.unclaimed] == [("mod:f", "rule", "rule")] * askable
    said = [notice.message.partition(": ")[2] for notice in scan.notices]
    assert said == [LITTLE] if askable else LITTLE not in said or "ignore" in text


def test_the_function_of_a_call_may_say_what_it_takes(project):
    project.write("mod.py", HEAD + 'def g(x: Float[Array, "n"]): ...\nf = jax.custom_jvp(g)\n')
    assert [(t.name, t.line) for t in project.scan().unclaimed] == [("mod:f", 5)]


def test_the_configuration_gives_inputs_for_a_rule_without_a_claim(project):
    project.write("mod.py", 'import jax\n@jax.custom_jvp\ndef f(x: Float[Array, "n"]): ...\n')
    scan = project.scan(given=("mod:f",))
    assert scan.unclaimed == () and scan.notices[0].message.endswith(LITTLE)
