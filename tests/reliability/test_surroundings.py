"""Disks, folders, repositories and file names that are not as one would like: an answer, or an error that says why."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradhook.model.errors import GradhookError

CLAIM = "from gradhook import gradcheck\n\n@gradcheck(args=(1.0,))\ndef f(x):\n    return True\n"
ALL = {f"{file}_innocent:{name}": verdict for file in "az" for name, verdict in (("right", "pass"), ("wrong", "fail"))}
posix = pytest.mark.skipif(sys.platform == "win32", reason="names and links of POSIX")


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """``volume("size=1m")``: a small file system of its own, where the tests may mount one."""
    mounted: list[Path] = []

    def mount(options: str, *, on: Path | None = None) -> Path:
        folder = on or tmp_path / f"volume{len(mounted)}"
        folder.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if (
            sys.platform != "linux"
            or os.getuid()
            or subprocess.run(command, capture_output=True, check=False).returncode
        ):
            pytest.skip("no right to mount a file system")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def test_a_full_temporary_folder(checkout: Any, volume: Callable[..., Path]) -> None:
    """Python takes another one, where there is another one."""
    fill(room := volume("size=256k"))
    ended = checkout.check(TMPDIR=str(room))
    assert (ended.code, ended.verdicts, ended.left) == (1, ALL, ())


def test_no_room_for_temporary_files(repository: Any, volume: Callable[..., Path], monkeypatch: Any) -> None:
    room = volume("size=256k,nr_inodes=1")
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    repository.write("m.py", "@gradcheck(args=())  # f\ndef f(): return 1\n")
    with pytest.raises(GradhookError, match=r"no temporary folder can be made: .*No space left") as caught:
        repository.launch(repository.target("m.py", "f"))
    assert "TMPDIR" in caught.value.help


def test_a_report_on_a_full_disk_keeps_the_old_one(checkout: Any, volume: Callable[..., Path]) -> None:
    room = volume("size=256k")
    (room / "report.json").write_text("old", encoding="utf-8")
    fill(room)
    ended = checkout.check("--report", f"json={room / 'report.json'}")
    assert (ended.code, ended.verdicts) == (2, ALL)
    assert "cannot be written: No space left on device" in ended.err
    assert (room / "report.json").read_text(encoding="utf-8") == "old"
    assert {path.name for path in room.iterdir()} == {"report.json", "filler"}


def test_a_checkout_on_a_full_disk(checkout: Any, volume: Callable[..., Path], tmp_path: Path) -> None:
    room = volume("size=1m")
    shutil.copytree(checkout.root, room, dirs_exist_ok=True)
    fill(room)
    ended = type(checkout)(room).check("--report", f"json={tmp_path / 'elsewhere.json'}", "-o", str(tmp_path / "o"))
    assert (ended.code, ended.left) == (2, ()), ended.err  # of the report that has no room; the other one is there
    assert (tmp_path / "elsewhere.json").stat().st_size > 1000


def test_a_read_only_checkout(checkout: Any, volume: Callable[..., Path], tmp_path: Path) -> None:
    room = volume("size=1m")
    shutil.copytree(checkout.root, room, dirs_exist_ok=True)
    subprocess.run(["mount", "-o", "remount,ro", str(room)], check=True)
    process = type(checkout)(room).start("--report", f"json={tmp_path / 'r.json'}")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, (tmp_path / "r.json").exists()) == (1, True), out + err


@posix
def test_a_folder_that_takes_no_new_file(checkout: Any) -> None:
    """An existing report is then written as it is; the folder may be one that only the report was prepared in."""
    folder = checkout.root / "out"
    folder.mkdir()
    (folder / "r.json").write_text("old", encoding="utf-8")
    folder.chmod(0o500)
    ended = checkout.check("--report", "json=out/r.json")
    folder.chmod(0o700)
    assert ended.code == 1 and (folder / "r.json").read_text(encoding="utf-8") != "old"


@posix
def test_a_report_behind_a_link_and_in_a_pipe(checkout: Any) -> None:
    (checkout.root / "real.json").write_text("old", encoding="utf-8")
    (checkout.root / "real.json").chmod(0o640)
    (checkout.root / "link.json").symlink_to("real.json")
    ended = checkout.check("--report", "json=link.json", "--report", "json=/dev/stderr")
    assert ended.code == 1 and (checkout.root / "link.json").is_symlink()
    assert (checkout.root / "real.json").read_text(encoding="utf-8").startswith("{")
    assert (checkout.root / "real.json").stat().st_mode & 0o777 == 0o640
    assert ended.err.startswith("{")


@pytest.mark.parametrize("obstacle", ["a file", "a loop"])
def test_a_cache_that_cannot_be_written(checkout: Any, obstacle: str) -> None:
    place = checkout.root / ".gradhook_cache"
    place.touch() if obstacle == "a file" else place.symlink_to(".gradhook_cache")
    for _ in range(2):
        ended = checkout.check()
        assert (ended.code, ended.verdicts) == (1, ALL), ended.err


def test_no_home_no_git_and_no_repository(checkout: Any, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    environ = {"PATH": str(tmp_path / "bin"), "HOME": "", "USERPROFILE": "", "XDG_CACHE_HOME": "/nowhere"}
    ended = checkout.check(**environ)
    assert (ended.code, ended.verdicts) == (1, ALL), ended.err


def test_no_variables_at_all(checkout: Any) -> None:
    done = subprocess.run(
        checkout.command("--no-cache"), cwd=checkout.root, env={}, capture_output=True, text=True, check=False
    )
    if sys.platform == "win32":
        pytest.skip("Windows itself needs some")
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("FAIL") == 2


def test_a_shallow_clone_with_a_submodule(checkout: Any, git: Any, tmp_path: Path) -> None:
    inner, upstream = tmp_path / "inner", checkout.root
    inner.mkdir()
    (inner / "deep.py").write_text(CLAIM, encoding="utf-8")
    for root in (inner, upstream):
        git(root, "init", "-q", "-b", "main")
        git(root, "add", ".")
        git(root, "commit", "-qm", "first")
    git(upstream, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.as_uri(), "sub")
    git(upstream, "commit", "-qm", "second")
    clone = tmp_path / "clone"
    git(tmp_path, "-c", "protocol.file.allow=always", "clone", "-q", "--depth", "1", upstream.as_uri(), str(clone))
    ended = type(checkout)(clone).check()
    assert (ended.code, ended.verdicts) == (1, ALL), ended.err
    git(clone, "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init")
    ended = type(checkout)(clone).check()
    assert (ended.code, ended.verdicts) == (1, ALL), "a submodule is a repository of its own"
    ended = type(checkout)(clone).check("sub")
    assert (ended.code, ended.verdicts) == (0, {"deep:f": "pass"}), ended.err


@posix
@pytest.mark.parametrize("tracked", [False, True])
def test_links_that_go_in_circles(checkout: Any, git: Any, tracked: bool) -> None:
    root = checkout.root
    (root / "sub").mkdir()
    (root / "sub" / "up").symlink_to("..")
    (root / "one.py").symlink_to("two.py")
    (root / "two.py").symlink_to("one.py")
    (root / "gone.py").symlink_to("nowhere.py")
    if tracked:
        git(root, "init", "-q")
        git(root, "add", ".")
    ended = checkout.check()
    assert (ended.code, ended.verdicts) == (1, ALL), ended.err


NAMES = [
    "with space.py", "new\nline.py", "quote'\".py", "$(touch x) `x`.py", "-k.py", "größe.py", "dot.dot.py",
    "::error::.py", "[x].py", "back\\slash.py", "\N{PILE OF POO}.py", "tab\t.py", "x" * 252 + ".py",
    os.fsdecode(b"sur\xff\xferogate.py"),
]  # fmt: skip


@posix
@pytest.mark.parametrize("tracked", [False, True])
def test_file_names_of_all_kinds(checkout: Any, git: Any, tracked: bool) -> None:
    for name in NAMES:
        try:
            (checkout.root / name).write_text(CLAIM, encoding="utf-8")
        except OSError:
            pytest.skip("this file system takes no such names")
    if tracked:
        git(checkout.root, "init", "-q")
        git(checkout.root, "add", ".")
    others = {"junit": "j.xml", "sarif": "s.json", "markdown": "m.md", "github": "g.txt"}
    ended = checkout.check(*(word for form, file in others.items() for word in ("--report", f"{form}={file}")))
    assert len(ended.verdicts) == len(ALL) + len(NAMES)
    assert {n: v for n, v in ended.verdicts.items() if n not in ALL and v != "pass"} == {}
    assert (ended.code, ended.left) == (1, ()), ended.err
    assert not (checkout.root / "x").exists()
    assert all((checkout.root / file).stat().st_size for file in others.values())


@posix
def test_names_that_differ_in_their_case_only(checkout: Any) -> None:
    checkout.write(case=CLAIM, Case=CLAIM.replace("f(x)", "g(x)"))
    if len(list(checkout.root.glob("[cC]ase.py"))) < 2:
        pytest.skip("this file system does not tell them apart")
    ended = checkout.check()
    assert ended.verdicts == {**ALL, "case:f": "pass", "Case:g": "pass"}


GOOD_FILES = {
    "bom": b"\xef\xbb\xbf" + CLAIM.encode(),
    "latin": b"# coding: latin-1\n# \xe9\n" + CLAIM.encode(),
    "crlf": CLAIM.replace("\n", "\r\n").encode(),
    "no_last_line_end": CLAIM.rstrip().encode(),
    "ten_megabytes": b"x = '''" + b"0123456789abcde\n" * 655_360 + b"'''\n" + CLAIM.encode(),
    "form_feed": b"\x0c\n" + CLAIM.encode(),
}


def test_files_of_all_kinds(checkout: Any) -> None:
    for name, text in GOOD_FILES.items():
        (checkout.root / f"{name}.py").write_bytes(text)
    ended = checkout.check()
    assert ended.verdicts == {**ALL, **{f"{name}:f": "pass" for name in GOOD_FILES}}
    assert (ended.code, ended.left) == (1, ())


BAD_FILES = {
    "nul": CLAIM.encode() + b"\0\n",
    "not_utf8": b"x = '\xff\xfe'\n" + CLAIM.encode(),
    "no_such_encoding": b"# coding: klingon\n" + CLAIM.encode(),
    "utf16": CLAIM.encode("utf-16") + b"gradhook",
    "python2": CLAIM.encode() + b"print 'old'\n",
    "too_new": CLAIM.encode() + b"match x with y then z\n",
    "nested": CLAIM.encode() + b"x = " + b"(" * 5000 + b")" * 5000,
    "binary": bytes(range(256)) * 40 + b"gradhook",
}
"""Files that mention gradhook and are no Python of this interpreter: each is named with its line, none is skipped."""


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_is_no_python_is_named(checkout: Any, name: str) -> None:
    (checkout.root / f"{name}.py").write_bytes(BAD_FILES[name])
    ended = checkout.check()
    assert ended.code == 2
    assert f"{name}.py:" in ended.err + ended.out and "Traceback" not in ended.err


def test_all_such_files_are_named_at_once(checkout: Any) -> None:
    for name, text in BAD_FILES.items():
        (checkout.root / f"{name}.py").write_bytes(text)
    err = checkout.check().err
    assert [name for name in BAD_FILES if f"gradhook: {name}.py:" not in err] == []


def test_files_that_have_nothing_to_do_with_it_may_be_anything(checkout: Any) -> None:
    for name, text in BAD_FILES.items():
        (checkout.root / f"{name}.py").write_bytes(text.replace(b"grad", b"xxxx"))
    ended = checkout.check()
    assert (ended.code, ended.verdicts) == (1, ALL), ended.err
