"""A pass counts for as long as nothing that it rests on has changed: each such thing is changed here."""

from __future__ import annotations

import os
import shutil
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from gradhook.execution.cache.fingerprints import content

F = "from gradhook import gradcheck\n{imports}\n@gradcheck(args=(1.0,){more})\ndef {name}(x):\n    {body}\n"


def target(name: str = "f", imports: str = "", body: str = "return x", more: str = "") -> str:
    return F.format(name=name, imports=imports, body=body, more=more)


CHAIN = {
    "pkg/__init__.py": "",
    "pkg/low.py": "factor = 2.0\n",
    "pkg/mid.py": "from .low import factor\ndef g(x):\n    return factor * x\n",
    "a.py": target(imports="from pkg.mid import g", body="return g(x)"),
    "b.py": target("h"),
}
PASSED, CACHED = {"a:f": "pass", "b:h": "pass"}, {"a:f": "cached", "b:h": "cached"}


@pytest.fixture
def warm(project: Any) -> Any:
    """The chain, checked once."""
    project.write(CHAIN)
    assert project.check() == PASSED
    assert project.check() == CACHED
    return project


def test_nothing_changed_starts_no_worker(warm: Any) -> None:
    assert len(warm.starts) == 1
    report = warm.report()
    assert len(warm.starts) == 1
    assert report.environment["examiner"] == "fake"
    assert [t.outcomes[0].note for t in report.targets] == ["2.0", "1.0"]


def test_a_helper_two_imports_away(warm: Any) -> None:
    warm.write({"pkg/low.py": "factor = 3.0\n"})
    assert warm.check() == {"a:f": "pass", "b:h": "cached"}
    assert [job.target.path for job in warm.starts[-1].jobs] == ["a.py"]
    assert warm.check() == CACHED


def test_a_helper_changed_within_the_second_and_of_the_same_size(warm: Any) -> None:
    low = warm.root / "pkg/low.py"
    before = low.stat()
    low.write_text("factor = 4.0\n", encoding="utf-8")
    os.utime(low, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert warm.check() == {"a:f": "pass", "b:h": "cached"}


def test_touching_a_file_changes_nothing(warm: Any) -> None:
    os.utime(warm.root / "pkg/low.py", (1, 1))
    assert warm.check() == CACHED


@pytest.mark.parametrize(
    "name", ["order", "rtol", "atol", "seed", "modes", "timeout", "self_test", "curves", "max_memory"]
)
def test_a_setting(warm: Any, name: str) -> None:
    values = {"order": "2", "modes": "rev", "self_test": True, "curves": True, "max_memory": "9000"}
    assert warm.check(**{name: values.get(name, "7")}) == PASSED
    assert warm.check() == CACHED


@pytest.mark.parametrize("said", [{"select": "GRD1"}, {"ignore": "GRD301"}, {"undecided": "warn"}, {"jobs": "2"}])
def test_what_is_only_a_matter_of_showing(warm: Any, said: dict[str, str]) -> None:
    assert warm.check(**said) == CACHED


def test_a_setting_in_the_file(warm: Any) -> None:
    warm.write({"pyproject.toml": "[tool.gradhook]\nundecided = 'warn'\n"})
    assert warm.check() == CACHED
    warm.write({"pyproject.toml": "[tool.gradhook]\nrtol = 1e-3\n"})
    assert warm.check() == PASSED


@pytest.mark.parametrize(
    "name", ["JAX_ENABLE_X64", "XLA_FLAGS", "JAX_NUMPY_RANK_PROMOTION", "OMP_NUM_THREADS", "PYTHONHASHSEED"]
)
def test_a_variable_of_the_environment(warm: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    assert warm.check() == PASSED
    monkeypatch.delenv(name)
    assert warm.check() == CACHED


def test_the_platform(warm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert warm.check(platform="tpu") == PASSED
    assert warm.check(platform="tpu") == PASSED, "nothing is known about such devices from outside"


@pytest.mark.parametrize("read", ["os.environ['SCALE']", "os.environ.get('SCALE')", "os.getenv('SCALE', '1')"])
def test_a_variable_that_the_code_reads(project: Any, monkeypatch: pytest.MonkeyPatch, read: str) -> None:
    monkeypatch.setenv("SCALE", "1")
    project.write({"a.py": target(imports="import os", body=f"return {read}")})
    assert project.check() == {"a:f": "pass"}
    monkeypatch.setenv("UNRELATED", "2")
    assert project.check() == {"a:f": "cached"}
    monkeypatch.setenv("SCALE", "2")
    assert project.check() == {"a:f": "pass"}
    monkeypatch.delenv("SCALE")
    assert project.check() != {"a:f": "cached"}


def test_another_python(warm: Any, tmp_path: Path) -> None:
    assert warm.check(python=sys.executable) == CACHED
    other = tmp_path / "other"
    venv.create(other, symlinks=os.name != "nt")
    site = next((other / "lib").glob("python*/site-packages"))
    shown = [entry for entry in sys.path if "site-packages" in entry]
    (site / "tests.pth").write_text("\n".join(shown) + "\n", encoding="utf-8")
    assert warm.check(python=str(other / "bin" / "python")) == PASSED
    assert warm.check(python=str(other / "bin" / "python")) == CACHED
    (site / "more.pth").write_text(str(tmp_path) + "\n", encoding="utf-8")
    assert warm.check(python=str(other / "bin" / "python")) == PASSED


def test_a_new_init(project: Any) -> None:
    project.write({"src/ns/low.py": "factor = 2.0\n", "a.py": target(imports="from ns.low import factor")})
    assert project.check() == {"a:f": "pass"}
    assert project.check() == {"a:f": "cached"}
    project.write({"src/ns/__init__.py": ""})
    assert project.check() == {"a:f": "pass"}


@pytest.mark.parametrize("new", ["low.py", "low/__init__.py"])
def test_a_module_further_in_front(project: Any, new: str) -> None:
    project.write(
        {"src/low.py": "factor = 2.0\n", "a.py": target(imports="from low import factor", body="return factor")}
    )
    assert project.check() == {"a:f": "pass"}
    assert project.check() == {"a:f": "cached"}
    project.write({new: "factor = 3.0\n"})
    assert project.check() == {"a:f": "pass"}


def test_a_module_in_front_of_an_installed_one(project: Any) -> None:
    project.write({"a.py": target(imports="import tomllib, colorsys")})
    assert project.check() == {"a:f": "pass"}
    assert project.check() == {"a:f": "cached"}
    project.write({"colorsys.py": ""})
    assert project.check() == {"a:f": "pass"}


def test_a_module_that_was_missing(project: Any) -> None:
    maybe = "try:\n    import extra\nexcept ImportError:\n    extra = None"
    project.write({"a.py": target(imports=maybe), "unrelated.py": ""})
    assert project.check() == {"a:f": "pass"}
    project.write({"another.py": ""})
    assert project.check() == {"a:f": "cached"}
    project.write({"extra.py": ""})
    assert project.check() == {"a:f": "pass"}


def test_a_link_that_leads_elsewhere(project: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(f"factor = '{name}'\n", encoding="utf-8")
    project.write({"a.py": target(imports="from low import factor", body="return factor")})
    (project.root / "low.py").symlink_to(tmp_path / "one.py")
    assert project.check() == {"a:f": "pass"}
    assert project.check() == {"a:f": "cached"}
    (project.root / "low.py").unlink()
    (project.root / "low.py").symlink_to(tmp_path / "two.py")
    assert project.check() == {"a:f": "pass"}
    (tmp_path / "two.py").write_text("factor = 'three'\n", encoding="utf-8")
    assert project.check() == {"a:f": "pass"}


def test_a_file_that_git_ignores(warm: Any) -> None:
    warm.write({".gitignore": "pkg/low.py\n", "pkg/low.py": "factor = 9.0\n"})
    assert warm.check() == {"a:f": "pass", "b:h": "cached"}


def test_a_file_of_a_folder_on_the_path_elsewhere(
    project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "away.py").write_text("factor = 1.0\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(elsewhere), os.environ.get("PYTHONPATH", "")]))
    project.write({"a.py": target(imports="import away")})
    assert project.check() == {"a:f": "pass"}
    assert project.check() == {"a:f": "cached"}
    (elsewhere / "away.py").write_text("factor = 2.0\n", encoding="utf-8")
    assert project.check() == {"a:f": "pass"}


INSTALLED = {
    "thing.py": "value = 1.0\n",
    "thing-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n",
    "thing-1.0.dist-info/RECORD": "thing.py,sha256=x,12\nthing-1.0.dist-info/METADATA,,\n",
    "other-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n",
    "other-1.0.dist-info/RECORD": "other.py,,\n",
}


@pytest.fixture
def site(project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed distributions, one of which the target uses."""
    folder = tmp_path / "lib" / "site-packages"
    for name, text in INSTALLED.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    project.write({"a.py": target(imports="import thing", body="return thing.value")})
    assert project.check() == {"a:f": "pass"}
    assert project.check() == {"a:f": "cached"}
    return folder


def test_an_upgraded_package(project: Any, site: Path) -> None:
    (site / "thing-1.0.dist-info").rename(site / "thing-1.1.dist-info")
    assert project.check() == {"a:f": "pass"}
    assert project.check() == {"a:f": "cached"}


def test_another_build_of_the_same_version(project: Any, site: Path) -> None:
    (site / "thing-1.0.dist-info/RECORD").write_text("thing.py,sha256=y,12\n", encoding="utf-8")
    assert project.check() == {"a:f": "pass"}


def test_a_changed_file_of_a_package(project: Any, site: Path) -> None:
    (site / "thing.py").write_text("value = 2.00\n", encoding="utf-8")
    assert project.check() == {"a:f": "pass"}


def test_jax_counts_always_and_what_is_not_loaded_never(project: Any, site: Path) -> None:
    shutil.rmtree(site / "other-1.0.dist-info")
    assert project.check() == {"a:f": "cached"}
    (site / "jax-99.0.dist-info").mkdir()
    assert project.check() == {"a:f": "pass"}


CONFIGURED = {
    "pyproject.toml": '[tool.gradhook.targets."pkg.mod:g"]\nargs = [1.0]\nrule = "pkg.rules:rule"\n',
    "pkg/__init__.py": "",
    "pkg/mod.py": "def g(x):\n    return x\n",
    "pkg/rules.py": "def rule(primals, tangents):\n    return tangents[0]\n",
    "pkg/more.py": "",
}


def test_the_options_of_a_configured_target(project: Any) -> None:
    project.write(CONFIGURED)
    assert project.check() == {"pkg.mod:g": "pass"}
    assert project.check() == {"pkg.mod:g": "cached"}
    project.write({"pkg/more.py": "x = 1\n"})
    assert project.check() == {"pkg.mod:g": "cached"}
    project.write({"pkg/mod.py": "def g(x):\n    return 2 * x\n"})
    assert project.check() == {"pkg.mod:g": "pass"}
    project.write({"pyproject.toml": CONFIGURED["pyproject.toml"].replace("1.0", "2.0")})
    assert project.check() == {"pkg.mod:g": "pass"}


def test_gradhooks_own_code(warm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradhook.execution.cache import cache_key

    monkeypatch.setattr(cache_key, "_source", lambda package: "another version")
    assert warm.check() == PASSED


def test_a_large_file_is_known_by_its_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradhook.execution.cache import fingerprints

    monkeypatch.setattr(fingerprints, "LARGE", 10)
    file = tmp_path / "weights"
    file.write_bytes(b"0" * 20)
    first = content(str(file))
    state = file.stat()
    file.write_bytes(b"1" * 20)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert content(str(file)) != first


def test_a_new_target_in_a_file(warm: Any) -> None:
    warm.write({"b.py": target("h") + target("new")})
    assert warm.check() == {"a:f": "cached", "b:h": "pass", "b:new": "pass"}


def test_a_script_that_starts_some_interpreter(warm: Any, tmp_path: Path) -> None:
    shim = tmp_path / "python"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    for _ in range(2):
        report = warm.report(python=str(shim))
        assert not any(target.cached for target in report.targets)
        assert "is a script" in report.environment["cache"]


def test_a_new_sitecustomize(warm: Any) -> None:
    warm.write({"sitecustomize.py": ""})
    assert warm.check() == PASSED
