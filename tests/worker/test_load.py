"""Files are imported wherever they lie, and displace nothing."""

from __future__ import annotations

from typing import Any

import pytest

F = "@gradcheck(args=())  # f\ndef f():\n    return "


def test_single_file(repository: Any, notes: Any) -> None:
    repository.write("deep/down/single.py", F + "__file__.rpartition('deep')[2][1:]")
    launched = repository.launch(repository.target("deep/down/single.py", "f"))
    assert [note.replace("\\\\", "/") for note in notes(launched)] == ["'down/single.py'"]


def test_package_with_relative_and_absolute_imports(repository: Any, notes: Any) -> None:
    repository.write("pkg/__init__.py", "BASE = 1\n" + F + "'root'")
    repository.write("pkg/sub/__init__.py", "")
    repository.write("pkg/sub/other.py", "HERE = 2\n")
    repository.write("pkg/sub/mod.py", "import pkg\nfrom .. import BASE\nfrom .other import HERE\n" + F + "BASE, HERE")
    launched = repository.launch(
        repository.target("pkg/sub/mod.py", "f", "pkg.sub.mod"), repository.target("pkg/__init__.py", "f", "pkg")
    )
    assert notes(launched) == ["(1, 2)", "'root'"]


@pytest.mark.parametrize("folder", ["src", "packages/one/src", "lib"])
def test_layouts(repository: Any, notes: Any, folder: str) -> None:
    repository.write(f"{folder}/pkg/__init__.py", "")
    repository.write(f"{folder}/pkg/other.py", "HERE = 2\n")
    repository.write(f"{folder}/pkg/mod.py", "from pkg.other import HERE\n" + F + "HERE, __name__")
    assert notes(repository.launch(repository.target(f"{folder}/pkg/mod.py", "f", "pkg.mod"))) == ["(2, 'pkg.mod')"]


def test_namespace_package(repository: Any, notes: Any) -> None:
    repository.write("src/space/one/mod.py", "import space.two.mod\n" + F + "__name__")
    repository.write("src/space/two/mod.py", F + "__name__")
    names = ("one", "two")
    targets = [repository.target(f"src/space/{name}/mod.py", "f", f"space.{name}.mod") for name in names]
    assert notes(repository.launch(*targets)) == ["'space.one.mod'", "'space.two.mod'"]


def test_same_stem_in_two_folders(repository: Any, notes: Any) -> None:
    for folder in ("a", "b"):
        repository.write(f"{folder}/same.py", F + repr(folder))
    launched = repository.launch(*(repository.target(f"{folder}/same.py", "f") for folder in ("a", "b")))
    assert notes(launched) == ["'a'", "'b'"]


def test_same_package_in_two_folders(repository: Any, notes: Any) -> None:
    for folder in ("a", "b"):
        repository.write(f"{folder}/pkg/__init__.py", "")
        repository.write(f"{folder}/pkg/value.py", f"HERE = {folder!r}\n")
        repository.write(f"{folder}/pkg/mod.py", "from .value import HERE\n" + F + "HERE")
    launched = repository.launch(*(repository.target(f"{folder}/pkg/mod.py", "f", "pkg.mod") for folder in ("a", "b")))
    assert notes(launched) == ["'a'", "'b'"]


@pytest.mark.parametrize("stem", ["json", "colorsys", "__main__", "my-script", "two.dots"])
def test_names_that_belong_to_others(repository: Any, notes: Any, stem: str) -> None:
    repository.write(
        f"examples/{stem}.py", "import json, colorsys\n" + F + "json.dumps(1), colorsys.rgb_to_hsv(0, 0, 0)[0]"
    )
    assert notes(repository.launch(repository.target(f"examples/{stem}.py", "f", stem))) == ["('1', 0.0)"]


def test_a_single_file_and_its_importer_share_it(repository: Any, notes: Any) -> None:
    repository.write("losses.py", "SEEN = []\n" + F + "SEEN")
    repository.write("train.py", "import losses\nlosses.SEEN.append(1)\n" + F + "losses.SEEN")
    targets = [repository.target(f"{stem}.py", "f") for stem in ("losses", "train")]
    assert notes(repository.launch(*targets)) == ["[1]", "[1]"]


def test_a_second_copy_is_not_examined(repository: Any, notes: Any) -> None:
    repository.write("sub/mod.py", F + "1")
    repository.write("user.py", "import sub.mod\n" + F + "2")
    launched = repository.launch(repository.target("user.py", "f"), repository.target("sub/mod.py", "f"))
    assert notes(launched) == ["2", "1"]


def test_the_help_about_a_file_next_door(repository: Any) -> None:
    repository.write("examples/helper.py", "")
    repository.write("examples/mod.py", "import helper\n" + F + "1")
    finding = repository.launch(repository.target("examples/mod.py", "f")).reports[0].findings[0]
    assert finding.code == "GRD901" and "helper.py lies beside it" in finding.help
