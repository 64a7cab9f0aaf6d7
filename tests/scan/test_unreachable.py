from __future__ import annotations

import pytest

HEAD = "from gradhook import gradcheck\n"
CASES = {
    "nested": (
        "def make_loss():\n    @gradcheck()\n    def f(x): ...\n    return f\n",
        ["make_loss.<locals>.f: nested in the function make_loss: no import reaches it"],
    ),
    "in a factory that hides it": (
        "def make():\n    @gradcheck()\n    def f(x): ...\n    return lambda x: f(x)\ng = make()\n",
        ["make.<locals>.f: nested in the function make: no import reaches it"],
    ),
    "in a factory whose product is never made": (
        "def make():\n    @gradcheck()\n    def f(x): ...\n    return f\nif False:\n    g = make()\n",
        ["make.<locals>.f: nested in the function make: no import reaches it"],
    ),
    "nested in a method": (
        "class A:\n    def make(self):\n        return gradcheck()(self.f)\n",
        ["A.make.<locals>.self.f: nested in the function A.make: no import reaches it"],
    ),
    "imported in the function": (
        "def make():\n    from gradhook import gradcheck as gc\n    @gc()\n    def f(x): ...\n",
        ["make.<locals>.f: nested in the function make: no import reaches it"],
    ),
    "lambda": ("g = lambda f: gradcheck()(f)\n", ["f: nested in a lambda: no import reaches it"]),
    "type checking": (
        "if typing.TYPE_CHECKING:\n    @gradcheck()\n    def f(x): ...\n",
        ["f: under TYPE_CHECKING: only type checkers execute it"],
    ),
    "else of not type checking": (
        "if not TYPE_CHECKING: pass\nelse:\n    f = gradcheck()(g)\n",
        ["f: under TYPE_CHECKING: only type checkers execute it"],
    ),
    "if False": (
        "if False:\n    class A:\n        @gradcheck()\n        def f(x): ...\n",
        ["A.f: under a condition that is always False: never executed"],
    ),
    "main": (
        'if __name__ == "__main__" and x:\n    gradcheck()(f)\n',
        ['f: under __name__ == "__main__": no import executes it'],
    ),
    "deleted": ("@gradcheck()\ndef f(x): ...\ndel f\n", ["f: the name f is deleted on line 4"]),
    "second def": ("@gradcheck()\ndef f(x): ...\ndef f(x): ...\n", ["f: the name f is bound again on line 4"]),
    "assigned": ("@gradcheck()\ndef f(x): ...\na, *f = g\n", ["f: the name f is bound again on line 4"]),
    "imported over": ("f = gradcheck()(g)\nfrom m import f\n", ["f: the name f is bound again on line 3"]),
    "loop variable": ("f = gradcheck()(g)\nfor f in x: pass\n", ["f: the name f is bound again on line 3"]),
    "with": ("f = gradcheck()(g)\nwith open() as f: pass\n", ["f: the name f is bound again on line 3"]),
    "bound again after its branch": (
        "if x:\n    @gradcheck()\n    def f(x): ...\nf = None\n",
        ["f: the name f is bound again on line 5"],
    ),
    "class replaced": (
        "class A:\n    @gradcheck()\n    def f(x): ...\nclass A: ...\n",
        ["A.f: the name A is bound again on line 5"],
    ),
    "method replaced": (
        "class A:\n    @gradcheck()\n    def f(x): ...\n    f = None\n",
        ["A.f: the name f is bound again on line 5"],
    ),
    "stored, never applied": ("mark = gradcheck(args=())\n", ["mark: never applied to a function"]),
    "thrown away": ("gradcheck(args=())\n", ["gradcheck: never applied to a function"]),
    "handed on": (
        "apply(gradcheck(args=()), f)\nmarks = {1: gradcheck()}\nself.mark = gradcheck()\nmap(gradcheck, [f])\n",
        ["gradcheck: handed to other code: the text does not tell which function it marks"] * 4,
    ),
    "stored and handed on": (
        "mark = gradcheck()\nfor f in x: apply(mark, f)\n",
        ["mark: handed to other code: the text does not tell which function it marks"],
    ),
    "wrapped afterwards": ("@gradcheck()\ndef f(x): ...\nf = jax.jit(f)\nf = partial(f, 1)\n", ["f: "]),
    "rules given afterwards": ("@gradcheck()\ndef f(x): ...\nf.defjvp(g)\nf.attribute = 1\n", ["f: "]),
    "property": ("class A:\n    @gradcheck()\n    def f(x): ...\n    @f.setter\n    def f(x, y): ...\n", ["A.f: "]),
    "replaced in the other branch": ("if x:\n    f = gradcheck()(g)\nelse:\n    f = None\n", ["f: "]),
    "perhaps replaced": ("f = gradcheck()(g)\ntry:\n    from fast import f\nexcept ImportError: pass\n", ["f: "]),
    "bound before": ("def f(x): ...\n@gradcheck()\ndef f(x): ...\n", ["f: "]),
    "a name of another scope": ("@gradcheck()\ndef f(x): ...\nclass A:\n    f = None\ndef g():\n    f = 1\n", ["f: "]),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_unreachable(project, text, expected):
    assert [f"{t.qualname}: {t.unreachable}" for t in project.targets(HEAD + text)] == expected


def test_its_lines_are_where_a_comment_may_speak_of_it(project):
    text = "def make():\n    @gradcheck(\n        args=())\n    def f(x): ...\n    @gradcheck\n    def g(x): ...\n"
    assert [t.lines for t in project.targets(text.replace("def make", "from gradhook import gradcheck\ndef make"))] == [
        (3, 4, 5),
        (6, 7),
    ]
