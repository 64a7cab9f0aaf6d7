from __future__ import annotations

import pytest

from gradhook.model.results import ClaimKind

# Each line of the expectation: qualname, line, mark, claim, source.
CASES = {
    "decorator": (
        """\
        from gradhook import gradcheck

        @gradcheck(
            args=(1.0,),
        )
        def f(x): ...
        """,
        ["f 6 3 exact decorator"],
    ),
    "aliases": (
        """\
        import gradhook
        import gradhook as gh
        import gradhook.annotations as ann
        from gradhook import gradcheck as gc, surrogate
        from gradhook.annotations import gradcheck
        @gradhook.gradcheck()
        @gh.gradcheck()
        @gh.annotations.gradcheck()
        @ann.surrogate()
        @gc()
        @gradcheck
        def f(x): ...
        """,
        [
            "f 12 6 exact decorator",
            "f 12 7 exact decorator",
            "f 12 8 exact decorator",
            "f 12 9 surrogate decorator",
            "f 12 10 exact decorator",
            "f 12 11 exact decorator",
        ],
    ),
    "entries of what a name holds": (
        """\
        from gradhook import gradcheck
        held = {"a": gradcheck()(lambda x: x), **{}, "f": gradcheck()(f)}
        held["b"] = gradcheck()(make(1))
        held[k] = gradcheck()(lambda x: x)
        many = [gradcheck()(lambda x: x), (1, gradcheck()(lambda x: x))]
        handed(gradcheck()(lambda x: x))
        """,
        [
            'held["a"] 2 2 exact call',
            "f 2 2 exact call",
            'held["b"] 3 3 exact call',
            "held[k] 4 4 exact call",
            "many[0] 5 5 exact call",
            "many[1][1] 5 5 exact call",
            "<lambda> 6 6 exact call",
        ],
    ),
    "products of a factory": (
        """\
        from gradhook import gradcheck
        def make(k):
            @gradcheck()
            def f(x): ...
            return f
        def direct(k):
            return gradcheck()(lambda x: x)
        euler, heun = make(1), make(2)
        held["rk"] = make(3)
        other = direct(1)
        if False:
            dead = make(4)
        """,
        [
            "euler 4 3 exact decorator",
            "heun 4 3 exact decorator",
            'held["rk"] 4 3 exact decorator',
            "other 7 7 exact call",
        ],
    ),
    "star import": ("from gradhook import *\n@gradcheck()\ndef f(x): ...\n", ["f 3 2 exact decorator"]),
    "alias by assignment": (
        "import gradhook\ngc = gradhook.gradcheck\n@gc\ndef f(x): ...\n",
        ["f 4 3 exact decorator"],
    ),
    "partial": (
        """\
        from functools import partial
        from gradhook import gradcheck
        twice = partial(gradcheck, order=2)
        @twice
        def f(x): ...
        @partial(gradcheck, order=3)
        def g(x): ...
        h = twice(args=())(g)
        """,
        ["f 5 4 exact decorator", "g 7 6 exact decorator", "h 8 8 exact call"],
    ),
    "classes": (
        """\
        from gradhook import gradcheck
        class A:
            @gradcheck()
            def method(self): ...
            @staticmethod
            @gradcheck()
            def static(x): ...
            @gradcheck()
            @classmethod
            def of_class(cls): ...
            class B:
                @gradcheck()
                async def inner(self): ...
            def plain(x): ...
            called = gradcheck()(plain)
            gradcheck()(plain)
        gradcheck()(A.plain)
        """,
        [
            "A.method 4 3 exact decorator",
            "A.static 7 6 exact decorator",
            "A.of_class 10 8 exact decorator",
            "A.B.inner 13 12 exact decorator",
            "A.called 15 15 exact call",
            "A.plain 16 16 exact call",
            "A.plain 17 17 exact call",
        ],
    ),
    "either order with jax": (
        """\
        import jax
        from gradhook import gradcheck, surrogate
        @gradcheck()
        @jax.jit
        def f(x): ...
        @jax.custom_jvp
        @surrogate(forward=f)
        def g(x): ...
        """,
        ["f 5 3 exact decorator", "g 8 7 surrogate decorator"],
    ),
    "call form": (
        """\
        import optax
        from gradhook import gradcheck
        h = gradcheck(args=())(optax.huber_loss)
        gradcheck(args=())(optax.huber_loss)
        gradcheck(optax.huber_loss, args=())
        gradcheck()(lambda x: x)
        k: object = gradcheck()(lambda x: x)
        a = b = gradcheck()(h)
        c, (d, e) = gradcheck()(h), [gradcheck()(k), 1]
        table = [gradcheck()(h), {"k": gradcheck()(k)}]
        table[0] = gradcheck()(b)
        (w := gradcheck()(h))
        for f in (h, k):
            gradcheck()(f)
        all_ = [gradcheck()(g) for g in (h, k)]
        m = jit(gradcheck()(h))
        n = gradcheck(order=1)(gradcheck(order=2)(jit(h)))
        """,
        [
            "h 3 3 exact call",
            "optax.huber_loss 4 4 exact call",
            "optax.huber_loss 5 5 exact call",
            "<lambda> 6 6 exact call",
            "k 7 7 exact call",
            "a 8 8 exact call",
            "c 9 9 exact call",
            "d 9 9 exact call",
            "h 10 10 exact call",
            "k 10 10 exact call",
            "b 11 11 exact call",
            "w 12 12 exact call",
            "f 14 14 exact call",
            "g 15 15 exact call",
            "h 16 16 exact call",
            "n 17 17 exact call",
            "n 17 17 exact call",
        ],
    ),
    "stored decorator": (
        """\
        from gradhook import gradcheck
        mark = gradcheck(
            args=(),
        )
        same = mark
        @mark
        def f(x): ...
        g = same(f)
        """,
        ["f 7 2 exact decorator", "g 8 2 exact call"],
    ),
    "branches that may run": (
        """\
        try:
            from gradhook import gradcheck
        except ImportError:
            def gradcheck(**options):
                return lambda f: f
        try:
            @gradcheck()
            def f(x): ...
        except ImportError:
            @gradcheck()
            def f(x): ...
        if not TYPE_CHECKING:
            @gradcheck()
            def g(x): ...
        if __name__ != "__main__":
            @gradcheck()
            def h(x): ...
        with open() as file:
            @gradcheck()
            def k(x): ...
        match 1:
            case 1:
                @gradcheck()
                def m(x): ...
        """,
        [
            "f 8 7 exact decorator",
            "f 11 10 exact decorator",
            "g 14 13 exact decorator",
            "h 17 16 exact decorator",
            "k 20 19 exact decorator",
            "m 24 23 exact decorator",
        ],
    ),
    "marks among options": (
        """\
        import jax
        from gradhook import gradcheck, surrogate
        def f(x): ...
        @surrogate(forward=f, derivative_of=gradcheck()(f))
        @jax.custom_jvp
        def g(x): ...
        """,
        ["f 4 4 exact call", "g 6 4 surrogate decorator"],
    ),
    "somebody else's": (
        """\
        from torch.autograd import gradcheck
        import gradhook, mine
        assert gradcheck(f, inputs)
        mine.gradcheck()(f)
        x.gradcheck(1)
        print(gradhook.normal(3), "gradcheck")
        def use(gradcheck): return gradcheck(f)
        """,
        [],
    ),
    "an own name put in its place": (
        "from gradhook import gradcheck\nfrom torch.autograd import gradcheck\ngradcheck(f, inputs)\n",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_targets(project, text, expected):
    found = project.targets(text)
    assert [f"{t.qualname} {t.line} {t.mark} {t.claim} {t.source}" for t in found] == expected
    assert [t.unreachable for t in found] == [""] * len(found)


def test_a_target_says_where_it_is(project):
    project.write("src/pkg/__init__.py")
    project.write("src/pkg/mod.py", "from gradhook import surrogate\n@surrogate()\ndef f(x): ...\n")
    (target,) = project.scan().targets
    assert (target.name, target.path, target.root) == ("pkg.mod:f", "src/pkg/mod.py", str(project.root))
    assert target.claim is ClaimKind.SURROGATE


MODULES = {
    "package": ("pkg/sub/mod.py", ("pkg/__init__.py", "pkg/sub/__init__.py"), "pkg.sub.mod"),
    "package itself": ("pkg/__init__.py", (), "pkg"),
    "src layout": ("src/pkg/mod.py", ("src/pkg/__init__.py",), "pkg.mod"),
    "namespace below src": ("src/space/pkg/mod.py", ("src/space/pkg/__init__.py",), "space.pkg.mod"),
    "single file below src": ("src/mod.py", (), "mod"),
    "monorepo": ("packages/a/src/pkg/mod.py", ("packages/a/src/pkg/__init__.py",), "pkg.mod"),
    "src is a package": ("src/mod.py", ("src/__init__.py",), "src.mod"),
    "single file": ("scripts/deep/my-file.py", (), "my-file"),
    "no name for a package": ("src/my-tool/mod.py", (), "mod"),
}


@pytest.mark.parametrize(("path", "others", "module"), MODULES.values(), ids=MODULES)
def test_the_module_is_the_name_under_which_an_import_finds_it(project, path, others, module):
    for other in others:
        project.write(other)
    project.write(path, "from gradhook import gradcheck\n@gradcheck()\ndef f(x): ...\n")
    assert [t.module for t in project.scan().targets] == [module]


@pytest.mark.parametrize(
    "statement",
    [
        "def f(x: gradcheck(args=())(g)): ...",
        "def f(*x: gradcheck(args=())(g)): ...",
        "def f(x) -> gradcheck(args=())(g): ...",
        "x: gradcheck(args=())(g) = 1",
        "x: gradcheck(args=())(g)",
        "del table[gradcheck(args=())(g)]",
        "del (x, table[gradcheck(args=())(g)])",
    ],
)
def test_an_annotation_where_nobody_would_put_one(project, statement):
    """Found by ``benchmarks/fuzzing.py``."""
    assert [t.qualname for t in project.targets(f"from gradhook import gradcheck\n{statement}\n")] == ["g"]


def test_a_decorator_as_a_type_hint_claims_nothing(project):
    assert project.targets("from gradhook import gradcheck\ndef f(check: gradcheck) -> gradcheck: ...\n") == ()
