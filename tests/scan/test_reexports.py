from __future__ import annotations

import pytest

UTILS = "import jax\nfrom gradhook import gradcheck as gc\nmark = gc(args=())\nrule = jax.custom_jvp\n"
USES = {
    "relative": ("from .utils import gc\n@gc()\ndef f(x): ...\n", ["f 2"]),
    "renamed again": ("from .utils import gc as check\n@check()\ndef f(x): ...\n", ["f 2"]),
    "module": ("import pkg.utils as u\n@u.gc()\ndef f(x): ...\n", ["f 2"]),
    "module by its dotted name": ("import pkg.utils\n@pkg.utils.gc()\ndef f(x): ...\n", ["f 2"]),
    "module from the package": ("from . import utils\nh = utils.gc()(f)\n", ["h 2"]),
    "absolute": ("from pkg.utils import gc\ngc()(f)\n", ["f 2"]),
    "star": ("from .utils import *\n@gc()\ndef f(x): ...\n", ["f 2"]),
    "from the package, star": ("from pkg import gc\n@gc()\ndef f(x): ...\n", ["f 2"]),
    "second hand": ("from .second import other\n@other()\ndef f(x): ...\n", ["f 2"]),
    "star of a star": ("from .all import gc\n@gc()\ndef f(x): ...\n", ["f 2"]),
    "in a function": ("def make():\n    from .utils import gc\n    return gc()(f)\n", ["f 3"]),
    "another gc": ("import gc\ngc.collect()\nutils = 1\n", []),
    "a lower-case word": ("from .other import gc\ngc()(f)  # utils\n", []),
}


@pytest.fixture(params=[False, True], ids=["walked", "git"])
def package(project, request):
    project.write("src/pkg/__init__.py", "from .utils import *\n")
    project.write("src/pkg/utils.py", UTILS)
    project.write("src/pkg/second.py", "from .utils import gc as other\n")
    project.write("src/pkg/all.py", "from .utils import *\n")
    project.write("src/pkg/other.py", "def gc(): ...\n")
    project.write("src/pkg/user_of_mark.py", "from .utils import mark\n@mark\ndef used(x): ...\n")
    if request.param:
        project.git("init", "-q")
    return project


@pytest.mark.parametrize(("text", "expected"), USES.values(), ids=USES)
@pytest.mark.parametrize("named", [False, True], ids=["folder", "file"])
def test_names_given_on_by_the_project(package, text, expected, named):
    package.write("src/pkg/mod.py", text)
    found = package.scan("src/pkg/mod.py" if named else ".").targets
    assert [f"{t.qualname} {t.mark}" for t in found if t.module == "pkg.mod"] == expected


def test_a_decorator_stored_in_one_module_and_applied_in_another(package):
    (target,) = package.scan("src/pkg/user_of_mark.py").targets
    assert (target.qualname, target.line, target.mark, target.unreachable) == ("used", 3, 3, "")
    assert target.mark_path == "src/pkg/utils.py"


@pytest.mark.parametrize("path", [".", "src/pkg/utils.py"])
def test_a_decorator_applied_elsewhere_is_not_unapplied(package, path):
    assert [t.qualname for t in package.scan(path).targets if t.unreachable] == []


def test_a_decorator_that_nobody_imports_is_unapplied(package):
    package.write("src/pkg/user_of_mark.py", "from .utils import mark\n")
    assert [(t.path, t.qualname) for t in package.scan().targets if t.unreachable] == [("src/pkg/utils.py", "mark")]


def test_custom_rules_under_other_names(package):
    package.write("src/pkg/mod.py", "from .utils import rule\n@rule\ndef f(x): ...\n")
    assert [n.message for n in package.scan().notices] == [
        "custom rule `f` (jax.custom_jvp) has no claim: nothing checks it; claim it, or annotate its "
        "arguments by jaxtyping"
    ]


def test_scripts_import_their_neighbours(project):
    project.write("tools/helpers.py", "from gradhook import gradcheck as check\n")
    project.write("tools/run.py", "import helpers\nhelpers.check()(f)\n")
    assert [t.name for t in project.scan().targets] == ["run:f"]


def test_modules_that_import_each_other(project):
    project.write("a.py", "from gradhook import gradcheck as gc\nfrom b import gd\n@gd()\ndef f(x): ...\n")
    project.write("b.py", "from a import gc\nfrom a import ge\ngd = gc\n@ge()\ndef g(x): ...\n")
    assert [t.name for t in project.scan().targets] == ["a:f"]


def test_names_that_chase_each_other_come_to_an_end(project):
    project.write("a.py", "from b import gradcheck\nfrom gradhook import normal\n@gradcheck\ndef f(x): ...\n")
    project.write("b.py", "from a import gradcheck\n")
    assert project.scan().targets == ()
