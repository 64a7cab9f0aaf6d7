"""The claim that the scan saw is found again after the import, with the object that it is about."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from gradhook.execution.worker.loading.load import plain, wraps
from gradhook.model.results import CheckSettings

WRAPPERS = """
import functools

def polite(function):
    @functools.wraps(function)
    def wrapper(*args):
        return "polite", function(*args)
    return wrapper

def silent(function):
    def wrapper(*args):
        return "silent", function(*args)
    return wrapper

"""


@pytest.mark.parametrize(
    "body, name, expected",
    [
        ("@polite\n@gradcheck(args=())  # f\ndef f():\n    return 1\n", "f", "('polite', 1)"),
        ("@silent\n@gradcheck(args=())  # f\ndef f():\n    return 1\n", "f", "('silent', 1)"),
        ("@gradcheck(args=())  # f\n@polite\ndef f():\n    return 1\n", "f", "('polite', 1)"),
        ("@gradcheck(  # f\n    args=(),\n)\ndef f():\n    return 1\n", "f", "1"),
        ("class A:\n    @gradcheck(args=(5,))  # A.f\n    def f(self):\n        return self\n", "A.f", "5"),
        ("class A:\n    @staticmethod\n    @gradcheck(args=(5,))  # A.f\n    def f(x): return x\n", "A.f", "5"),
        ("class A:\n    @gradcheck(args=(5,))  # A.f\n    @staticmethod\n    def f(x): return x\n", "A.f", "5"),
        (
            "class A:\n    @classmethod\n    @gradcheck(args=(5,))  # A.f\n    def f(cls, x):\n"
            "        return cls.__name__, x\n",
            "A.f",
            "('A', 5)",
        ),
        (
            "class A:\n    @gradcheck(args=(5,))  # A.f\n    @classmethod\n    def f(cls, x):\n"
            "        return cls.__name__, x\n",
            "A.f",
            "('A', 5)",
        ),
        ("class A:\n class B:\n  @gradcheck(args=(5,))  # A.B.f\n  def f(self): return self\n", "A.B.f", "5"),
        ("@gradcheck(args=())  # f\ndef f():\n    return 1\nf = functools.partial(f)\n", "f", "1"),
    ],
)  # fmt: skip
def test_decorator_orders(repository: Any, notes: Any, body: str, name: str, expected: str) -> None:
    repository.write("mod.py", WRAPPERS + body)
    assert notes(repository.launch(repository.target("mod.py", name))) == [expected]


@pytest.mark.parametrize(
    "call, name, expected",
    [
        ("gradcheck(args=(3,))(math.sqrt)  # sqrt", "sqrt", "1.732"),
        ("import math as m; g = gradcheck(args=(9,))(m.sqrt)  # g", "g", "3.0"),
        ("half = gradcheck(args=(4,))(functools.partial(math.pow, 2))  # half", "half", "16.0"),
    ],
)
def test_call_form(repository: Any, notes: Any, call: str, name: str, expected: str) -> None:
    repository.write("mod.py", f"import functools, math\n{call}\n")
    note = notes(repository.launch(repository.target("mod.py", name, source="call")))[0]
    assert note.startswith(expected)


@pytest.mark.parametrize(
    "after, message",
    [
        ("del f", "the module has no `f` after its import: deleted"),
        ("def f(): pass", "shadowed: the module's `f` is another object"),
        ("f = None", "shadowed: the module's `f` is another object"),
    ],
)
def test_deleted_and_shadowed(repository: Any, notes: Any, after: str, message: str) -> None:
    repository.write("mod.py", f"@gradcheck(args=())  # f\ndef f():\n    return 1\n{after}\n")
    assert notes(repository.launch(repository.target("mod.py", "f"))) == [f"GRD502 {message}"]


def test_never_executed(repository: Any, notes: Any) -> None:
    repository.write("mod.py", "if False:\n    @gradcheck(args=())  # f\n    def f(): ...\ndef f(): ...\n")
    says_so = repository.target("mod.py", "f", unreachable="it stands under `if False`")
    start = "GRD502 the annotation on line 3 cannot be reached: "
    assert notes(repository.launch(repository.target("mod.py", "f"))) == [start + "the import never ran it"]
    assert notes(repository.launch(says_so)) == [start + "it stands under `if False`"]


def test_what_a_function_made_at_import_is_reached(repository: Any, notes: Any) -> None:
    repository.write(
        "factory.py",
        "def make(k):\n    @gradcheck(args=())  # make.f\n    def f():\n        return k\n    return f\n",
    )
    repository.write("user.py", "import factory\na = factory.make(1)\n@gradcheck(args=())  # g\ndef g(): return 3\n")
    nested = repository.target("factory.py", "make.f", unreachable="it stands inside the function `make`")
    launched = repository.launch(nested, repository.target("user.py", "g"))
    assert notes(launched) == ["1", "3"]


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_each_product_of_a_factory_is_the_one_of_its_name(repository: Any, notes: Any, order: tuple[str, str]) -> None:
    repository.write(
        "mod.py",
        "def make(k):\n    @gradcheck(args=())  # f\n    def f():\n        return k\n    return f\n"
        "one = make(1)\ntwo = make(2)\n",
    )
    line = repository.target("mod.py", "f").mark
    launched = repository.launch(*(repository.target("mod.py", name, mark=line) for name in order))
    assert notes(launched) == [{"one": "1", "two": "2"}[name] for name in order]
    assert [report.target.qualname for report in launched.reports] == [*order]


def test_every_claim_of_a_loop_is_examined(repository: Any, notes: Any) -> None:
    repository.write(
        "mod.py",
        "import math\nfor function in (math.sin, math.cos, math.exp):\n"
        "    gradcheck(args=(0,))(function)  # function\n",
    )
    launched = repository.launch(repository.target("mod.py", "function", source="call"))
    assert notes(launched) == ["0.0", "1.0", "1.0"]
    assert [report.target.name for report in launched.reports] == ["mod:function", "mod:cos", "mod:exp"]


def test_discovered_claims_have_the_name_of_the_module(repository: Any) -> None:
    repository.write(
        "mod.py",
        "held = {}\nfor k in ('a', 'b'):\n    held[k] = gradcheck(args=())(lambda: 1)  # held[k]\n"
        "many = []\nfor k in (1, 2, 3):\n    many.append(gradcheck(args=())(lambda: 1))\n"
        "last = many.pop()\n",
    )
    launched = repository.launch(repository.target("mod.py", "held[k]", source="call"))
    names = [report.target.qualname for report in launched.reports]
    assert names == ["held[k]", 'held["b"]', "many[0]", "many[1]", "last"]


def test_discovered_claims_survive_a_crash(repository: Any, notes: Any) -> None:
    repository.write(
        "mod.py",
        "import math, os\ndef dies(x): os._exit(3)\n"
        "@gradcheck(args=())  # good\ndef good(): return 1\n"
        "for function in (math.sin, dies, math.exp):\n    gradcheck(args=(0,))(function)  # function\n",
    )
    launched = repository.launch(
        repository.target("mod.py", "good"), repository.target("mod.py", "function", source="call")
    )
    died = "GRD906 the process died in case 'first': exit status 3"
    assert notes(launched) == ["1", "0.0", died, "1.0"]


def test_two_calls_on_one_line(repository: Any, notes: Any) -> None:
    repository.write("mod.py", "import math\ngradcheck(args=(0,))(math.sin); gradcheck(args=(0,))(math.cos)  # sin\n")
    sin = repository.target("mod.py", "sin", source="call")
    cos = repository.target("mod.py", "cos", source="call", mark=sin.mark)
    assert notes(repository.launch(sin, cos)) == ["0.0", "1.0"]


def test_a_decorator_made_elsewhere(repository: Any, notes: Any) -> None:
    repository.write("common.py", "check = gradcheck(args=(2,))\n")
    repository.write(
        "mod.py", "from common import check\n@check  # f\ndef f(x): return x\n@check  # g\ndef g(x): return -x\n"
    )
    stored = [
        repository.target("mod.py", "g", mark=2, mark_path="common.py"),
        repository.target("mod.py", "f", mark=2, mark_path="common.py"),
    ]
    assert notes(repository.launch(*stored)) == ["-2", "2"]
    unknown = [repository.target("mod.py", name) for name in "gf"]
    assert notes(repository.launch(*unknown)) == ["-2", "2"]


def test_stacked_annotations_are_separate(repository: Any, notes: Any) -> None:
    repository.write("mod.py", "@gradcheck(args=(1,))  # f\n@gradcheck(args=(2,))  # again\ndef f(x): return x\n")
    first, second = repository.target("mod.py", "f"), repository.target("mod.py", "again")
    both = (first, repository.target("mod.py", "f", mark=second.mark))
    assert notes(repository.launch(*both)) == ["1", "2"]


def test_options_with_arrays_of_no_clear_truth(repository: Any, notes: Any) -> None:
    repository.write(
        "mod.py",
        "class Vague:\n    def __eq__(self, other): raise ValueError('ambiguous')\n    __hash__ = None\n"
        "@gradcheck(args=(), exact=Vague())  # f\ndef f(): return 1\n"
        "@gradcheck(args=(), exact=Vague())  # g\ndef g(): return 2\n",
    )
    assert notes(repository.launch(*(repository.target("mod.py", name) for name in "fg"))) == ["1", "2"]


@pytest.mark.parametrize(
    "module, qualname, expected",
    [
        ("posixpath", "supports_unicode_filenames.__bool__", "False"),
        ("sys", "getsizofe", "GRD903 the target was not found: `sys` has no `getsizofe`"),
        ("no_such_module", "f", "GRD901 the import failed: ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_configured_targets(repository: Any, notes: Any, module: str, qualname: str, expected: str) -> None:
    repository.write("pyproject.py", "# anything\n")
    target = repository.target("pyproject.py", qualname, module, source="config", mark=1)
    launched = repository.launch(target)
    assert notes(launched) == [expected]
    if "GRD903" in expected:
        assert launched.reports[0].findings[0].help == "did you mean `getsizeof`?"


def test_custom_rules_and_jit_in_either_order(repository: Any, notes: Any) -> None:
    repository.write(
        "mod.py",
        "import functools, jax\n"
        "@jax.custom_jvp\n@gradcheck(args=())  # f\ndef f(x): return x\n"
        "@gradcheck(args=())  # g\n@jax.custom_vjp\ndef g(x): return x\n"
        "@functools.partial(jax.jit, static_argnums=())\n@gradcheck(args=())  # h\ndef h(x): return x\n"
        "class A:\n    @staticmethod\n    @jax.custom_jvp\n    @gradcheck(args=())  # A.k\n    def k(x): return x\n",
    )
    targets = [repository.target("mod.py", name) for name in ("f", "g", "h", "A.k")]
    subjects = notes(repository.launch(*targets, settings=CheckSettings(modes=("type of the subject",))))
    assert subjects == ["custom_jvp", "custom_vjp", "PjitFunction", "custom_jvp"]


def test_wrappers_are_followed() -> None:
    def f() -> None: ...

    class Lazy:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert wraps(functools.partial(functools.partial(f)), f)
    assert wraps(staticmethod(f), f) and wraps(f, staticmethod(f))
    assert wraps(property(f), f)
    assert not wraps(lambda: None, f)
    assert not wraps(Lazy(), f)
    assert plain(property(f), None) is f
