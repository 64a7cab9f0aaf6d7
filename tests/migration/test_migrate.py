"""Do the claims say what the tests said, and is what only a person can know left to one?

The shapes of the calls are those of public projects: positional and named arguments, modes as a text, random inputs,
lambdas, local functions, partial and jit, methods, loops, fixtures, wrappers, and other people's ``check_grads``.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradhook.model.errors import GradhookError
from gradhook.projects.migration import Migrated, migrate
from gradhook.projects.migration.fragments import Status

HEAD = """\
from functools import partial
import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import jax.test_util as jtu
from jax import test_util
from jax._src import test_util as inner
from jax.test_util import check_grads, check_jvp, check_vjp
from jax.test_util import check_grads as cg
from shop import losses
from shop.losses import huber, mean_square

TOLERANCE = 1e-3
SHAPE = (3,)


def norm(x):
    return jnp.sum(x * x)


"""


def migrated(folder: Path, body: str, name: str = "test_losses.py", **options: bool) -> Migrated:
    (folder / name).write_text(HEAD + textwrap.dedent(body), encoding="utf-8")
    (file,) = migrate([folder / name], **options).files
    ast.parse(file.text)
    uncommented = "\n".join(line.removeprefix("# ") for line in file.text.split("\n") if line.startswith("# gradcheck"))
    ast.parse(uncommented)
    return file


def claims(file: Migrated) -> str:
    """The translated code below the imports and comments."""
    return "\n".join(answer.text for answer in file.translations if answer.status is Status.TRANSLATED)


BOTH = 'modes=("fwd", "rev")'
TRANSLATED = {
    "a function of the project": (
        "def test_a():\n    check_grads(losses.huber, (0.3, 1.0), order=1)\n",
        f"gradcheck(args=(0.3, 1.0), {BOTH})(losses.huber)",
    ),
    "all by position": (
        'def test_a():\n    check_grads(huber, (0.3, 1.0), 2, ["rev"], 1e-2, 1e-2)\n',
        'gradcheck(args=(0.3, 1.0), order=2, modes=("rev",))(huber)',
    ),
    "all by name": (
        'def test_a():\n    jtu.check_grads(f=huber, args=(0.3, 1.0), order=1, modes=("fwd",))\n',
        'gradcheck(args=(0.3, 1.0), modes=("fwd",))(huber)',
    ),
    "modes that are a text": (
        'def test_a():\n    cg(huber, (0.3, 1.0), order=1, modes=("rev"))\n',
        'gradcheck(args=(0.3, 1.0), modes=("rev",))(huber)',
    ),
    "linearize": (
        'def test_a():\n    inner.check_grads(huber, (0.3, 1.0), 1, modes=["lin", "rev"])\n',
        f"gradcheck(args=(0.3, 1.0), {BOTH})(huber)",
    ),
    "an order with a name": (
        "def test_a():\n    order = 2\n    check_grads(huber, (0.3, 1.0), order)\n",
        f"gradcheck(args=(0.3, 1.0), order=2, {BOTH})(huber)",
    ),
    "a list of inputs": (
        "def test_a():\n    test_util.check_grads(norm, [jnp.ones(3)], 1)\n",
        f"gradcheck(args=(jnp.ones(3),), {BOTH})(norm)",
    ),
    "inputs that are no tuple": (
        "def test_a():\n    check_grads(norm, (np.ones((1, 3))), 1)\n",
        f"def a_args():\n    return (*np.ones((1, 3)),)\n\n\ngradcheck(args=a_args, {BOTH})(norm)",
    ),
    "random inputs": (
        """
        def test_a():
            key = jax.random.key(0)
            print(key)
            x = jax.random.normal(key, SHAPE)  # three
            unused = 1
            x = x.at[0].set(0.5)
            jax.test_util.check_grads(norm, (x,), order=1)
        """,
        """\
def a_args():
    key = jax.random.key(0)
    x = jax.random.normal(key, SHAPE)  # three
    x = x.at[0].set(0.5)
    return (x,)


gradcheck(args=a_args, modes=("fwd", "rev"))(norm)""",
    ),
    "numpy's generator, changed in place": (
        "def test_a():\n    rng = np.random.RandomState(0)\n    rng.seed(3)\n    x = rng.randn(3)\n    x[0] = 1\n"
        "    check_grads(norm, (x,), 1)\n",
        "def a_args():\n    rng = np.random.RandomState(0)\n    rng.seed(3)\n    x = rng.randn(3)\n    x[0] = 1\n"
        f"    return (x,)\n\n\ngradcheck(args=a_args, {BOTH})(norm)",
    ),
    "a lambda on several lines": (
        "def test_a():\n    n = 3\n    check_grads(lambda x, *y: jnp.sum(\n        x * n), (1.0,), order=1)\n",
        f"@gradcheck(args=(1.0,), {BOTH})\ndef a(x, *y):\n    n = 3\n    return jnp.sum(x * n)",
    ),
    "a lambda with a name": (
        "def test_a():\n    f = lambda x: jnp.sin(x)\n    check_grads(f, (1.0,), order=1)\n",
        f"@gradcheck(args=(1.0,), {BOTH})\ndef a(x):\n    return jnp.sin(x)",
    ),
    "a local function": (
        '''
        def test_a():
            scale = 2.0

            @jax.jit
            def loss(x, y=1.0):
                """What it is."""
                return jnp.sum(x * scale) * y  # kept

            with jax.enable_x64(True):
                check_grads(loss, (1.0,), order=1)
        ''',
        f'@gradcheck(args=(1.0,), {BOTH})\n@jax.jit\ndef a_loss(x, y=1.0):\n    """What it is."""\n'
        "    scale = 2.0\n    return jnp.sum(x * scale) * y  # kept",
    ),
    "a local function on one line": (
        "def test_a():\n    k = 2\n    def f(x): return k * x\n    check_grads(f, (1.0,), order=1)\n",
        f"@gradcheck(args=(1.0,), {BOTH})\ndef a(x):\n    k = 2\n    return k * x",
    ),
    "a local function with a rule": (
        "def test_a():\n    @jax.custom_jvp\n    def f(x):\n        return x * x\n\n    @f.defjvp\n"
        "    def rule(p, t):\n        return f(*p), 2 * p[0] * t[0]\n\n    check_grads(f, (0.3,), order=1)\n",
        f"@gradcheck(args=(0.3,), {BOTH})\ndef a(*args):\n    @jax.custom_jvp\n    def f(x):\n        return x * x\n"
        "    @f.defjvp\n    def rule(p, t):\n        return f(*p), 2 * p[0] * t[0]\n    return (f)(*args)",
    ),
    "partial": (
        "def test_a():\n    check_grads(partial(huber, delta=1.0), (0.3,), order=1)\n",
        f"a = gradcheck(args=(0.3,), {BOTH})(partial(huber, delta=1.0))",
    ),
    "jit of something local": (
        "def test_a():\n    d = 1.0\n    f = partial(huber, delta=d)\n    check_grads(jax.jit(f), (0.3,), order=1)\n",
        f"@gradcheck(args=(0.3,), {BOTH})\ndef a(*args):\n    d = 1.0\n    f = partial(huber, delta=d)\n"
        "    return (jax.jit(f))(*args)",
    ),
    "a name that is taken": (
        "def test_huber():\n    check_grads(lambda x: x, (0.3,), order=1)\n",
        f"@gradcheck(args=(0.3,), {BOTH})\ndef huber_claim(x):\n    return x",
    ),
    "a keyword for a name": (
        "def test_lambda():\n    check_grads(lambda x: x, (0.3,), order=1)\n",
        f"@gradcheck(args=(0.3,), {BOTH})\ndef lambda_claim(x):\n    return x",
    ),
    "forward mode alone": (
        "def test_a():\n    check_jvp(huber, partial(jax.jvp, huber), (0.3, 1.0), rtol=1)\n",
        'gradcheck(args=(0.3, 1.0), modes=("fwd",))(huber)',
    ),
    "reverse mode alone, its rule with a name": (
        "def test_a():\n    f = huber\n    rule = partial(jax.vjp, f)\n    check_vjp(f, rule, (0.3, 1.0), eps=1e-5)\n",
        'gradcheck(args=(0.3, 1.0), modes=("rev",))(huber)',
    ),
    "chex": (
        "def test_a():\n    chex.assert_numerical_grads(f=huber, f_args=(0.3, 1.0), order=2, atol=1e-10)\n",
        f"gradcheck(args=(0.3, 1.0), order=2, {BOTH})(huber)",
    ),
    "in a class": (
        "class TestIt:\n    def testGrad(self):\n        maker = lambda: [np.ones(3)]\n"
        "        check_grads(norm, maker(), order=1)\n",
        "def grad_args():\n    maker = lambda: [np.ones(3)]\n    return (*maker(),)\n\n\n"
        f"gradcheck(args=grad_args, {BOTH})(norm)",
    ),
    "what a class sets up": (
        "class TestIt:\n    def setUp(self):\n        super().setUp()\n        n = 3\n"
        "        self.x, self.y = np.ones(n), 2.0\n        other = 1\n\n"
        "    def test_grad(self):\n        check_grads(norm, (self.x[:2],), order=1)\n",
        "def grad_args():\n    self = type('Self', (), {})()\n    n = 3\n    self.x, self.y = np.ones(n), 2.0\n"
        f"    return (self.x[:2],)\n\n\ngradcheck(args=grad_args, {BOTH})(norm)",
    ),
    "on a module's own level": (
        "x = 0.5\nif x:\n    check_grads(jnp.cos, (x,), 1)\nx = 2.5\n",
        f"def claim_args():\n    x = 0.5\n    return (x,)\n\n\ngradcheck(args=claim_args, {BOTH})(jnp.cos)",
    ),
}


@pytest.mark.parametrize(("body", "claim"), TRANSLATED.values(), ids=TRANSLATED)
def test_translated(tmp_path: Path, body: str, claim: str) -> None:
    file = migrated(tmp_path, body)
    assert [answer.status for answer in file.translations] == [Status.TRANSLATED]
    assert claims(file) == claim


BY_HAND = {
    "a parametrized test": (
        '@pytest.mark.parametrize("d", [1.0])\ndef test_a(d):\n    check_grads(lambda x: huber(x, d), (0.3,), 1)\n',
        "`d` comes from the parametrization of `test_a`: write one case for each value",
    ),
    "a fixture": (
        "def test_a(params):\n    check_grads(huber, (params, 1.0), 1)\n",
        "`params` is a parameter of `test_a`",
    ),
    "a loop": (
        "def test_a():\n    for d in (1.0, 2.0):\n        check_grads(huber, (0.3, d), 1)\n",
        "`d` is the variable of the loop on line 24",
    ),
    "a condition": (
        "def test_a():\n    if TOLERANCE:\n        d = 1\n    check_grads(huber, (0.3, d), 1)\n",
        "`d` comes from the `if` on line 24",
    ),
    "a context": (
        "def test_a():\n    with open('x') as d:\n        check_grads(huber, (0.3, d), 1)\n",
        "`d` is given by the `with` on line 24",
    ),
    "self": (
        "class TestIt:\n    def test_a(self):\n        check_grads(self.f, (0.3,), 1)\n",
        "it needs the test's `self.f`",
    ),
    "a helper": (
        "def check(f, args):\n    check_grads(f, args, order=2)\n",
        "`f` is a parameter of `check`",
    ),
    "options handed on": (
        "def check(f, args, **kw):\n    check_grads(f, args, **kw)\n",
        "its arguments are handed on with `*` or `**`",
    ),
    "a computed order": (
        "def test_a(order):\n    check_grads(huber, (0.3, 1.0), order)\n",
        "order=order is computed",
    ),
    "a rule of its own": (
        "def test_a():\n    check_vjp(huber, losses.huber_vjp, (0.3, 1.0))\n",
        "it checks a rule of its own, `losses.huber_vjp`: give it to jax.custom_vjp",
    ),
    "a name from nowhere": (
        "def test_a():\n    check_grads(huber, (0.3, nowhere), 1)\n",
        "`nowhere` is not defined in the file",
    ),
}


@pytest.mark.parametrize(("body", "reason"), BY_HAND.values(), ids=BY_HAND)
def test_by_hand_with_the_reason_and_a_line_that_parses(tmp_path: Path, body: str, reason: str) -> None:
    file = migrated(tmp_path, body)
    (answer,) = file.translations
    assert (answer.status, answer.reason) == (Status.BY_HAND, reason)
    assert answer.text.startswith("gradcheck(")
    ast.parse(answer.text)
    assert not file.has_claims


LEFT_ALONE = {
    "it is meant to fail": (
        "def test_a():\n    with pytest.raises(AssertionError):\n        check_grads(huber, (0.3, 1.0), 1)\n",
        "the test expects it to fail (line 24)",
    ),
    "never run": (
        "@pytest.mark.xfail\ndef test_a():\n    check_grads(huber, (0.3, 1.0), 1)\n",
        "the test is marked `pytest.mark.xfail`",
    ),
    "autograd's": (
        "from autograd.test_util import check_grads\ndef test_a():\n    check_grads(huber)(0.3, 1.0)\n",
        "it is `autograd.test_util.check_grads`",
    ),
    "the file's own": (
        "def check_grads(f):\n    pass\n\ndef test_a():\n    check_grads(huber)\n",
        "`check_grads` is the file's own (line 23)",
    ),
    "a method": (
        "class TestIt:\n    def test_a(self):\n        self.check_grads(1)\n",
        "`self.check_grads` is neither JAX's nor chex's",
    ),
    "handed on": ("mine = partial(jtu.check_grads, order=1)\n", "it is handed on, not called, here"),
}


@pytest.mark.parametrize(("body", "reason"), LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone_with_the_reason(tmp_path: Path, body: str, reason: str) -> None:
    file = migrated(tmp_path, body)
    assert [(a.status, a.reason) for a in file.translations] == [(Status.LEFT_ALONE, reason)]
    assert file.text == ""


CLOSE = "def test_a():\n    check_grads(norm, (jnp.ones(3),), 1, atol=TOLERANCE, rtol=None, eps=1e-4)\n"


def test_tolerances_are_left_out_and_said(tmp_path: Path) -> None:
    file = migrated(tmp_path, CLOSE)
    assert claims(file) == f"gradcheck(args=(jnp.ones(3),), {BOTH})(norm)"
    assert file.translations[0].notes == ("left out: atol=TOLERANCE, eps=0.0001",)


def test_tolerances_can_be_kept(tmp_path: Path) -> None:
    file = migrated(tmp_path, CLOSE, tolerances=True)
    assert claims(file) == f"gradcheck(args=(jnp.ones(3),), {BOTH}, atol=TOLERANCE, eps=0.0001)(norm)"
    assert "\nTOLERANCE = 1e-3\n" in file.text


def test_a_rule_of_the_module_is_copied_with_its_function(tmp_path: Path) -> None:
    rules = (
        "@jax.custom_vjp\ndef f(x):\n    return x * x\n\nf.defvjp(lambda x: (f(x), x), lambda x, g: (2 * x * g,))\n\n"
    )
    file = migrated(tmp_path, rules + "def test_a():\n    check_grads(f, (0.3,), 1)\n")
    assert "f.defvjp(lambda x: (f(x), x), lambda x, g: (2 * x * g,))\n\n\n# test_losses.py: test_a\n" in file.text


def test_the_file_of_claims(tmp_path: Path) -> None:
    first = "def test_a():\n    check_grads(norm, (jnp.ones(3),), 1, rtol=0.1)\n\n"
    file = migrated(tmp_path, first + "def test_b(x):\n    check_grads(norm, (x,), 1)\n")
    assert file.target == tmp_path / "claims_losses.py"
    assert file.text == (
        '"""Claims translated by `gradhook migrate` from test_losses.py; `gradhook check` checks them."""\n'
        "\n"
        "import jax.numpy as jnp\n"
        "from gradhook import gradcheck\n"
        "\n\n"
        "def norm(x):\n"
        "    return jnp.sum(x * x)\n"
        "\n\n"
        "# test_losses.py: test_a\n"
        "# left out: rtol=0.1\n"
        'gradcheck(args=(jnp.ones(3),), modes=("fwd", "rev"))(norm)\n'
        "\n\n"
        "# test_losses.py: test_b, to be finished: `x` is a parameter of `test_b`\n"
        '# gradcheck(args=(x,), modes=("fwd", "rev"))(norm)\n'
    )


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("losses_test.py", "claims_losses.py"), ("checks.py", "claims_checks.py"), ("test_.py", "claims_module.py")],
)
def test_no_name_that_pytest_collects(tmp_path: Path, name: str, wanted: str) -> None:
    assert migrated(tmp_path, CLOSE, name).target.name == wanted


def test_a_file_that_is_no_python(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("check_grads(\n", encoding="utf-8")
    with pytest.raises(GradhookError, match="no valid Python"):
        migrate([tmp_path])


PROJECT = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "src/shop/__init__.py": "",
    "src/shop/losses.py": """\
import jax
import jax.numpy as jnp


def huber(x, delta):
    small = jnp.abs(x) < delta
    return jnp.where(small, 0.5 * x * x, delta * (jnp.abs(x) - 0.5 * delta))


@jax.custom_jvp
def mean_square(x):
    return jnp.mean(x * x)


@mean_square.defjvp
def _rule(primals, tangents):
    x, t = primals[0], tangents[0]
    return mean_square(x), jnp.sum(2.0000001 * x * t) / x.size  # check_grads passes this
""",
    "tests/test_losses.py": HEAD.replace("import chex\n", "")
    + """
def test_huber():
    key = jax.random.key(0)
    x = jax.random.normal(key, SHAPE)
    check_grads(huber, (x, 5.0), order=2)


def test_mean_square():
    def loss(x):
        return losses.mean_square(jnp.sin(x))

    check_grads(loss, (jnp.arange(1.0, 4.0),), order=1, atol=1e-2, rtol=1e-2)
""",
}


def test_the_claims_of_a_project_have_verdicts(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for file in migrate([tmp_path]).files:
        file.target.write_text(file.text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "gradhook",
        "check",
        "tests",
        "--python",
        sys.executable,
        "--output-format",
        "json",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    targets = json.loads(done.stdout)["targets"]
    assert [(t["target"], t["verdict"]) for t in targets] == [
        ("claims_losses:huber", "pass"), ("claims_losses:mean_square_loss", "fail"),
    ]  # fmt: skip


NAMES = st.sampled_from(["x", "y", "key", "norm", "huber"])
VALUES = st.recursive(
    st.one_of(NAMES, st.sampled_from(["1.0", "'a\\n'", '"""b\n  c"""', "jnp.ones(3)"])),
    lambda inner: st.builds("({} + {})".format, inner, inner) | st.builds("[{}\n, {}]".format, inner, inner),
    max_leaves=4,
)
LINES = st.lists(st.builds("    {} = {}\n".format, NAMES, VALUES), max_size=4).map("".join)


@given(
    before=LINES, inputs=VALUES, function=st.sampled_from(["norm", "lambda v: v * x", "f", "jax.jit(norm)", "self.f"])
)
def test_whatever_comes_out_is_python(
    tmp_path_factory: pytest.TempPathFactory, before: str, inputs: str, function: str
) -> None:
    body = f"def test_a():\n{before}    def f(v):\n        return v * y\n    check_grads({function}, ({inputs},), 1)\n"
    file = migrated(tmp_path_factory.mktemp("any"), body)
    compile(file.text, "claims", "exec")
    assert len(file.translations) == 1
