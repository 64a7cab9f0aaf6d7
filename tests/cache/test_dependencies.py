"""What a target depends on is found by watching it; where that is not enough, it depends on everything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

F = "from gradhook import gradcheck\n{imports}\n@gradcheck(args=(1.0,){more})\ndef {name}(x):\n    {body}\n"


def target(name: str = "f", imports: str = "", body: str = "return x", more: str = "") -> str:
    return F.format(name=name, imports=imports, body=body, more=more)


OTHER = {"b.py": target("h", imports="import beside"), "beside.py": "value = 1.0\n"}


def changed(project: Any, files: dict[str, str]) -> dict[str, str]:
    """What comes of a change after all was cached."""
    first = project.check()
    assert set(first.values()) == {"pass"}, first
    assert set(project.check().values()) == {"cached"}
    project.write(files)
    found: dict[str, str] = project.check()
    return found


IMPORTS = {
    "in a function that runs": ("", "from low import factor; return factor * x"),
    "by name": ("import importlib\nlow = importlib.import_module('low')", "return low.factor * x"),
    "by name at run time": ("from importlib import import_module", "return import_module('lo' + 'w').factor * x"),
    "by exec": ("exec(open('low.py').read())", "return factor * x"),
    "over two lines": ("from low import (  # see (1)\n    factor,\n)", "return factor * x"),
    "after a backslash": ("from low \\\n    import factor", "return factor * x"),
    "after a semicolon": ("pass; import low", "return low.factor * x"),
    "with a star": ("from low import *", "return factor * x"),
    "under another name": ("import low as other", "return other.factor * x"),
    "by runpy": ("import runpy\nvalues = runpy.run_path('low.py')", "return values['factor'] * x"),
    "through sys.modules": ("import sys, third", "return sys.modules['low'].factor * x"),
    "as an attribute of a package": ("import pkg, pkg.loader", "return pkg.low.factor * x"),
}


@pytest.mark.parametrize("how", IMPORTS)
def test_ways_to_import(project: Any, how: str) -> None:
    imports, body = IMPORTS[how]
    project.write({**OTHER, "low.py": "factor = 2.0\n", "a.py": target(imports=imports, body=body)})
    project.write({"third.py": "import low\n", "pkg/__init__.py": "", "pkg/loader.py": "from . import low\n"})
    project.write({"pkg/low.py": "factor = 2.0\n"})
    where = "pkg/low.py" if "package" in how else "low.py"
    found = changed(project, {where: "factor = 3.0\n"})
    assert found == {"a:f": "pass", "b:h": "cached"}


def test_what_another_target_imported_first(project: Any) -> None:
    """The second of two that import the same is not seen to open it."""
    low = {"low.py": "factor = 2.0\n"}
    project.write({**low, **{f"{n}.py": target(n, "from low import factor") for n in "ab"}, "c.py": target("c")})
    assert changed(project, {"low.py": "factor = 3.0\n"}) == {"a:a": "pass", "b:b": "pass", "c:c": "cached"}


def test_one_file_of_many(project: Any) -> None:
    names = [f"m{n}" for n in range(6)]
    project.write({f"{n}.py": target("f") for n in names})
    assert changed(project, {"m3.py": target("f", body="return 2 * x")}) == {
        f"{n}:f": "pass" if n == "m3" else "cached" for n in names
    }
    assert [job.target.module for job in project.starts[-1].jobs] == ["m3"]


DATA = {
    "at import": ("values = open('data/table.txt').read()", "return values"),
    "in the call": ("from pathlib import Path", "return Path('data/table.txt').read_text()"),
    "in a helper": ("from reading import read", "return read()"),
    "by a descriptor": ("import os", "return os.read(os.open('data/table.txt', os.O_RDONLY), 9)"),
}


@pytest.mark.parametrize("how", DATA)
def test_a_data_file_that_python_opens(project: Any, how: str) -> None:
    imports, body = DATA[how]
    project.write({**OTHER, "data/table.txt": "1", "a.py": target(imports=imports, body=body)})
    project.write({"reading.py": "text = open('data/table.txt').read()\ndef read():\n    return text\n"})
    assert changed(project, {"data/table.txt": "2"}) == {"a:f": "pass", "b:h": "cached"}


DECLARED = {"data/one.txt": "1", "data/sub/two.txt": "2", "data/other.md": "3"}


@pytest.mark.parametrize("given", ["'../data/one.txt'", "('../data/*.txt',)", "('../data',)", "['../data/**/*.txt']"])
@pytest.mark.parametrize("kind", ["gradcheck", "surrogate"])
def test_a_data_file_that_is_declared(project: Any, given: str, kind: str) -> None:
    text = target(more=f", depends_on={given}").replace("gradcheck", kind)
    project.write({**OTHER, **DECLARED, "src/a.py": text})
    assert changed(project, {"data/one.txt": "5"}) == {"a:f": "pass", "b:h": "cached"}


def test_a_new_file_that_a_declared_pattern_means(project: Any) -> None:
    project.write({**OTHER, **DECLARED, "a.py": target(more=", depends_on='data/*.txt'")})
    assert changed(project, {"data/new.txt": ""}) == {"a:f": "pass", "b:h": "cached"}
    project.write({"data/new.md": ""})
    assert project.check() == {"a:f": "cached", "b:h": "cached"}


def test_declared_in_the_configuration(project: Any) -> None:
    toml = '[tool.gradhook.targets."mod:g"]\nargs = [1.0]\ndepends_on = ["data/*.txt"]\n'
    project.write({**OTHER, **DECLARED, "pyproject.toml": toml, "mod.py": "def g(x):\n    return x\n"})
    assert changed(project, {"data/one.txt": "5"}) == {"mod:g": "pass", "b:h": "cached"}


@pytest.mark.parametrize(
    ("given", "said"),
    [("'data/on.txt'", "names no file"), ("3", "depends_on=3"), ("('',)", "depends_on")],
)
@pytest.mark.parametrize("cache", [True, False])
def test_a_wrong_declaration(project: Any, given: str, said: str, cache: bool) -> None:
    project.write({**DECLARED, "a.py": target(more=f", depends_on={given}")})
    (report,) = project.report(cache=cache).targets
    assert report.findings[0].code == "GRD909"
    assert said in report.findings[0].message
    assert report.findings[0].help


def test_a_registry(project: Any) -> None:
    """One target's module adds to what another target uses: neither imports the other."""
    project.write(
        {
            "registry.py": "KNOWN = {}\ndef register(f):\n    KNOWN[f.__name__] = f\n    return f\n",
            "a.py": target("f", "from registry import register\n@register\ndef scale():\n    return 2.0"),
            "b.py": target("h", "from registry import KNOWN", "return x * KNOWN['scale']()"),
            "c.py": target("k"),
        }
    )
    text = (project.root / "a.py").read_text(encoding="utf-8")
    assert changed(project, {"a.py": text.replace("2.0", "3.0")}) == {"a:f": "pass", "b:h": "pass", "c:k": "cached"}


def test_a_patch(project: Any) -> None:
    """The module is patched by one that imports it, before a third uses it."""
    project.write(
        {
            "low.py": "def scale():\n    return 1.0\n",
            "a.py": target("f", "import low\nlow.scale = lambda: 2.0"),
            "b.py": target("h", "import low", "return x * low.scale()"),
            "c.py": target("k"),
        }
    )
    text = (project.root / "a.py").read_text(encoding="utf-8")
    assert changed(project, {"a.py": text.replace("2.0", "3.0")}) == {"a:f": "pass", "b:h": "pass", "c:k": "cached"}


def test_what_belongs_to_everybody(project: Any) -> None:
    project.write(
        {
            "settings.py": "import os\nos.environ['MODE'] = '1'\n",
            "a.py": target("f", "import settings"),
            "b.py": target("h", "import os", "return os.environ['MODE']"),
        }
    )
    new = {"settings.py": "import os\nos.environ['MODE'] = '2'\n"}
    assert changed(project, new) == {"a:f": "pass", "b:h": "pass"}


def test_a_plain_package_stays_apart(project: Any) -> None:
    """Loggers, constants, classes and caches are no sign that others meddled."""
    body = "import logging, functools\nlog = logging.getLogger(__name__)\nlog.warning('loaded')\nTABLE = {'a': 1}\n"
    body += "class Model:\n    weights = [1.0]\n@functools.cache\ndef slow():\n    return 1.0\nmodel = Model()\n"
    project.write({f"pkg/{n}.py": body for n in "abc"} | {"pkg/__init__.py": "from . import a, b, c\n"})
    project.write({f"t{n}.py": target(n, f"from pkg.{n} import slow, log", "return slow() * x") for n in "abc"})
    project.write({"lone.py": target("lone")})
    found = changed(project, {"pkg/a.py": body.replace("1.0", "2.0")})
    assert found == {"ta:a": "pass", "tb:b": "pass", "tc:c": "pass", "lone:lone": "cached"}


def test_a_file_that_changes_while_it_is_checked(project: Any) -> None:
    edit = "import pathlib\nif not pathlib.Path('done').exists():\n    pathlib.Path('done').write_text('')\n"
    edit += "    pathlib.Path('low.py').write_text('factor = 3.0')"
    project.write(
        {"low.py": "factor = 2.0\n", "a.py": target("f", f"from low import factor\n{edit}"), "b.py": target("h")}
    )
    assert project.check() == {"a:f": "pass", "b:h": "pass"}
    assert project.check() == {"a:f": "pass", "b:h": "cached"}
    assert project.check() == {"a:f": "cached", "b:h": "cached"}


def test_a_file_that_is_written_and_read_is_no_input(project: Any) -> None:
    body = "open('log', 'a').write('x'); open('made', 'w').write('y'); return open('made').read()"
    project.write({"a.py": target(body=body)})
    assert project.check() == {"a:f": "pass"}
    assert project.check() == {"a:f": "cached"}


def test_compiled_files_stand_for_their_sources(project: Any) -> None:
    import compileall

    project.write({"low.py": "factor = 2.0\n", "a.py": target("f", "from low import factor")})
    compileall.compile_dir(project.root, quiet=2)
    assert (project.root / "__pycache__").is_dir()
    assert changed(project, {"low.py": "factor = 3.0\n"}) == {"a:f": "pass"}


LOOP = "import math\nfrom gradhook import gradcheck\nfor f in ({}):\n    gradcheck(args=(0.0,))(f)\n"


def test_claims_that_the_scan_cannot_see(project: Any) -> None:
    project.write({"a.py": LOOP.format("math.sin, math.cos")})
    first = project.check()
    assert len(first) == 2 and set(first.values()) == {"pass"}
    again = project.check()
    assert again == dict.fromkeys(first, "cached") and len(project.starts) == 1
    project.write({"a.py": LOOP.format("math.sin, lambda x: False")})
    assert sorted(project.check().values()) == ["fail", "pass"]
    assert sorted(t.verdict.value for t in project.report().targets if t.cached) == ["fail", "pass"]


def test_errors_are_not_kept(project: Any) -> None:
    project.write({"a.py": target(body="return 1 / 0"), "b.py": target("h"), "broken.py": target(imports="1 / 0")})
    assert project.check() == {"a:f": "error", "b:h": "pass", "broken:f": "error"}
    assert project.check() == {"a:f": "error", "b:h": "cached", "broken:f": "error"}


def test_failures_are_kept_and_remain_failures(project: Any) -> None:
    project.write({"a.py": target(body="return False"), "b.py": target("h")})
    assert project.check() == {"a:f": "fail", "b:h": "pass"}
    before = project.starts.copy()
    failed, passed = project.report().targets
    assert project.starts == before, "no worker was started"
    assert (failed.verdict.value, failed.cached, failed.outcomes[0].note) == ("fail", True, "False")
    assert passed.cached
    assert project.check(cache=False) == {"a:f": "fail", "b:h": "pass"}
    project.write({"a.py": target(body="return True")})
    assert project.check() == {"a:f": "pass", "b:h": "cached"}


def test_claims_that_cannot_be_told_apart_are_not_kept(project: Any) -> None:
    text = "from gradhook import gradcheck\ndef f(x):\n    return x\n"
    text += "gradcheck(args=(1.0,))(f); gradcheck(args=(False,))(f)\n"
    project.write({"a.py": text})
    for _ in range(2):
        assert [t.verdict.value for t in project.report().targets] == ["pass", "fail"]


def test_a_target_left_out_does_not_matter(project: Any) -> None:
    project.write({"a.py": target("f") + target("h", body="return 1 / 0")})
    assert project.check() == {"a:f": "pass", "a:h": "error"}
    assert project.check() == {"a:f": "cached", "a:h": "error"}
    assert project.starts[-1].skip == (0,)


def test_a_worker_that_dies(project: Any) -> None:
    project.write({"a.py": target(imports="import os", body="os._exit(3)"), "b.py": target("h")})
    assert project.check() == {"a:f": "error", "b:h": "pass"}
    assert project.check() == {"a:f": "error", "b:h": "cached"}


def test_the_current_folder_is_not_part_of_it(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(OTHER)
    assert project.check() == {"b:h": "pass"}
    monkeypatch.chdir(Path(os.sep))
    assert project.check() == {"b:h": "cached"}


def test_the_names_in_a_folder(project: Any) -> None:
    body = "return sorted(p.name for p in __import__('pathlib').Path('data').iterdir())"
    project.write({**OTHER, "data/one.txt": "1", "a.py": target(body=body)})
    assert changed(project, {"data/two.txt": ""}) == {"a:f": "pass", "b:h": "cached"}


def test_code_that_an_installed_package_imports(project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with plugins: who imports the package second is not seen to import the plugin."""
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "library.py").write_text("import plugin\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    project.write({"plugin.py": "factor = 1.0\n", **{f"{n}.py": target(n, "import library") for n in "ab"}})
    assert changed(project, {"plugin.py": "factor = 2.0\n"}) == {"a:a": "pass", "b:b": "pass"}


def test_a_patch_of_an_installed_package(project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "library.py").write_text("def scale():\n    return 1.0\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    project.write(
        {"a.py": target("f", "import library\nlibrary.scale = lambda: 2.0"), "b.py": target("h", "import library")}
    )
    text = (project.root / "a.py").read_text(encoding="utf-8")
    assert changed(project, {"a.py": text.replace("2.0", "3.0")}) == {"a:f": "pass", "b:h": "pass"}


def test_several_workers(project: Any) -> None:
    project.overrides = {"jobs": "2"}
    names = [f"m{n}" for n in range(8)]
    project.write({f"{n}.py": target("f", "from low import factor" if n < "m4" else "") for n in names})
    project.write({"low.py": "factor = 2.0\n"})
    found = changed(project, {"low.py": "factor = 3.0\n"})
    assert found == {f"{n}:f": "pass" if n < "m4" else "cached" for n in names}


def test_a_claim_that_is_found_takes_no_number_of_a_kept_answer(project: Any) -> None:
    toml = '[tool.gradhook.targets."z:g"]\nargs = [1.0]\n'
    project.write({"pyproject.toml": toml, "z.py": "def g(x):\n    return x\n"})
    project.write({"a.py": LOOP.format("math.sin, math.cos")})
    first = project.check()
    assert len(first) == 3 and set(first.values()) == {"pass"}
    project.write({"a.py": LOOP.format("math.sin, math.tan")})
    again = project.check()
    assert len(again) == 3 and again["z:g"] == "cached"


def test_a_new_patch(project: Any) -> None:
    """What is patched was answered before the patch was there, and by none of what it rests on can that be seen."""
    project.write(
        {
            "low.py": "def scale():\n    return 1.0\n",
            "a.py": target("f", "import low"),
            "b.py": target("h", "import low", "return x * low.scale()"),
            "c.py": target("k"),
        }
    )
    found = changed(project, {"a.py": target("f", "import low\nlow.scale = lambda: 2.0")})
    assert found == {"a:f": "pass", "b:h": "pass", "c:k": "cached"}
    assert [t.outcomes[0].note for t in project.report().targets] == ["1.0", "2.0", "1.0"]
    project.write({"b.py": target("h", "import low", "return 2 * x * low.scale()")})
    assert project.check() == {"a:f": "pass", "b:h": "pass", "c:k": "cached"}
    assert [t.outcomes[0].note for t in project.report().targets] == ["1.0", "4.0", "1.0"]


def test_a_new_setting_that_belongs_to_everybody(project: Any) -> None:
    project.write({"a.py": target("f"), "b.py": target("h", "import os", "return os.environ.get('MODE')")})
    assert changed(project, {"a.py": target("f", "import os\nos.environ['MODE'] = '1'")}) == {
        "a:f": "pass",
        "b:h": "pass",
    }
    assert [t.outcomes[0].note for t in project.report().targets] == ["1.0", "'1'"]
    assert set(project.check().values()) == {"cached"}


def test_byte_code_of_another_text(project: Any) -> None:
    """Same size, same second: Python runs the old code, and the answer says nothing of the new text."""
    import compileall

    project.write({"low.py": "factor = 2.0\n", "a.py": target("f", "from low import factor", "return factor")})
    compileall.compile_dir(project.root, quiet=2)
    low = project.root / "low.py"
    before = low.stat()
    low.write_text("factor = 3.0\n", encoding="utf-8")
    os.utime(low, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert project.report().targets[0].outcomes[0].note == "2.0"
    os.utime(low, (1, 1))
    (report,) = project.report().targets
    assert (report.cached, report.outcomes[0].note) == (False, "3.0")


def test_the_version_of_a_distribution_that_is_not_loaded(
    project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "site-packages" / "thing-1.0.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n", encoding="utf-8")
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(tmp_path / "site-packages"), os.environ.get("PYTHONPATH", "")])
    )
    project.write({"a.py": target(imports="import importlib.metadata as m", body="return m.version('thing')")})
    assert project.check() == {"a:f": "pass"}
    assert project.check() == {"a:f": "cached"}
    metadata.write_text("Metadata-Version: 2.1\nName: thing\nVersion: 2.0\n", encoding="utf-8")
    assert project.check() == {"a:f": "pass"}
