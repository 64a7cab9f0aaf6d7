"""Edits of a project, each chosen and carried out at random: what authors, tools and other programs do to files."""

from __future__ import annotations

import compileall
import os
import re
import shutil
from collections.abc import Callable

from staling.project import Edited

_NUMBER = re.compile(r"(?<![\w.'])\d+\.\d+(?![\w.'])")
_LINES = re.compile(r"^(?=\S)", re.MULTILINE)


def edit(edited: Edited) -> str:
    """Edit the project once; what was done."""
    names = [*EDITS]
    name = edited.random.choices(names, [EDITS[name][1] for name in names])[0]
    return f"{name}: {EDITS[name][0](edited)}"


def _constant(edited: Edited) -> str:
    path = edited.random.choice([path for path in edited.code() if _NUMBER.search(path.read_text("utf-8"))])
    edited.write(path, _renumbered(edited, path.read_text("utf-8")))
    return path.name


def _renumbered(edited: Edited, text: str) -> str:
    """The text with another number, of the same length, in one place."""
    place = edited.random.choice([*_NUMBER.finditer(text)])
    digits = "".join(edited.random.choice("123456789") if c.isdigit() else c for c in place[0])
    return text[: place.start()] + digits + text[place.end() :]


def _code(edited: Edited) -> str:
    path = edited.random.choice(edited.code())
    text = path.read_text("utf-8")
    lines = [line for line in text.splitlines() if line.strip().startswith("return ") and "lambda" not in line]
    if not lines:
        return "nothing"
    line = edited.random.choice(lines)
    new = edited.random.choice([f"{line} + 0.5", f"{line} * 1.5", line.replace("return ", "return 0.5 + ")])
    edited.write(path, text.replace(line, new if len(new) < 100 else line.split(" + ")[0], 1))
    return path.name


def _layout(edited: Edited) -> str:
    path = edited.random.choice(edited.code())
    text = path.read_text("utf-8")
    place = edited.random.choice([*_LINES.finditer(text)] or [None])
    new = edited.random.choice(["# a comment\n", "\n\n", "# another\n\n"])
    at = place.start() if place else 0
    if text[:at].endswith(")\n") and "@" in text[:at].splitlines()[-1]:
        at = len(text)
    edited.write(path, text[:at] + new + text[at:] if edited.random.random() < 0.7 else text.rstrip() + "  # end\n")
    return path.name


def _decorator(edited: Edited) -> str:
    path = edited.root / "mid.py"
    text = path.read_text("utf-8")
    edited.write(
        path, text.replace("@gained\n", "") if "@gained" in text else text.replace("def mid", "@gained\ndef mid")
    )
    return path.name


def _data(edited: Edited) -> str:
    path = edited.random.choice(edited.data())
    edited.write(path, f"{edited.random.randint(1, 9)}.{edited.random.randint(0, 9)}")
    return path.name


def _data_file(edited: Edited) -> str:
    path = edited.root / "data" / "more" / edited.random.choice(["two.txt", "three.txt", "notes.md"])
    if path.exists():
        path.unlink()
    else:
        edited.write(path, "1.5")
    return path.name


def _variable(edited: Edited) -> str:
    name = edited.random.choice(["STALE_RATE", "STALE_RATE", "STALE_UNUSED"])
    if name in os.environ and edited.random.random() < 0.3:
        del os.environ[name]
    else:
        os.environ[name] = f"{edited.random.randint(1, 9)}.5"
    return name


def _patch(edited: Edited) -> str:
    path = edited.root / "patching.py"
    text = path.read_text("utf-8")
    edited.write(
        path, text.replace("low2.rate", "# low2.rate") if "\nlow2.rate" in text else text.replace("# low2", "low2")
    )
    return path.name


def _version(edited: Edited) -> str:
    old = next(edited.site.glob("thing-*.dist-info"))
    version = f"{edited.random.randint(1, 9)}.{edited.random.randint(0, 9)}"
    metadata = f"Metadata-Version: 2.1\nName: thing\nVersion: {version}\n"
    value = (edited.site / "thing.py").read_text("utf-8")
    shutil.rmtree(old)
    new = f"thing-{version}.dist-info"
    edited.write(edited.site / new / "METADATA", metadata)
    edited.write(edited.site / new / "RECORD", f"thing.py,sha256={len(value)}{version},12\n{new}/METADATA,,\n")
    if edited.random.random() < 0.5:
        edited.write(edited.site / "thing.py", f"value = {version}\n")
    return version


def _patched_distribution(edited: Edited) -> str:
    path = edited.site / "thing.py"
    edited.write(path, _renumbered(edited, path.read_text("utf-8")))
    return "in place"


def _link(edited: Edited) -> str:
    path = edited.root / "linked.py"
    name = edited.random.choice(["one.py", "two.py"])
    path.unlink()
    path.symlink_to(edited.elsewhere / name)
    return name


def _path_file(edited: Edited) -> str:
    name = edited.random.choice(["one", "two"])
    edited.write(edited.site / "away.pth", f"{edited.elsewhere / name}\n")
    return name


def _moved(edited: Edited) -> str:
    """A module gets another name, in every file that imports it; or comes back."""
    names = ("low", "lower") if (edited.root / "low.py").exists() else ("lower", "low")
    (edited.root / f"{names[0]}.py").rename(edited.root / f"{names[1]}.py")
    if edited.random.random() < 0.8:
        for path in (path for path in edited.code() if edited.root in path.parents):
            text = path.read_text("utf-8")
            new = re.sub(rf"\b(from|import) {names[0]}\b", rf"\1 {names[1]}", text)
            new = re.sub(rf"\b{names[0]}\.", f"{names[1]}.", new)
            if new != text:
                edited.write(path, new)
    return " to ".join(names)


def _renamed_target(edited: Edited) -> str:
    path = edited.random.choice(sorted(edited.root.glob("t_*.py")))
    new = path.with_name(
        path.name.replace("t_", "t_new_") if "t_new_" not in path.name else path.name.replace("t_new_", "t_")
    )
    path.rename(new)
    return f"{path.name} to {new.name}"


def _in_front(edited: Edited) -> str:
    path = edited.root / edited.random.choice(["common.py", "common/__init__.py", "extra.py", "src/extra.py"])
    if path.exists():
        path.unlink()
    else:
        edited.write(path, f"common = {edited.random.randint(2, 9)}.0\nmore = {edited.random.randint(2, 9)}.5\n")
    return str(path.relative_to(edited.root))


def _reverted(edited: Edited) -> str:
    path = edited.random.choice(
        [path for path, texts in sorted(edited.texts.items()) if path.exists() and len(texts) > 1]
    )
    edited.write(path, edited.random.choice(edited.texts[path]))
    return path.name


def _clock(edited: Edited) -> str:
    """Another number of the same length, at the same time of the file or an earlier one."""
    path = edited.random.choice([path for path in edited.code() if _NUMBER.search(path.read_text("utf-8"))])
    before = path.stat()
    edited.write(path, _renumbered(edited, path.read_text("utf-8")))
    earlier = edited.random.choice([0, 0, 10**9, 86400 * 10**9])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns - earlier))
    return path.name


def _touched(edited: Edited) -> str:
    path = edited.random.choice(edited.code())
    os.utime(path)
    return path.name


def _compiled(edited: Edited) -> str:
    """The user runs the code, and Python leaves byte code behind; or somebody cleans up."""
    if edited.random.random() < 0.3:
        for folder in [*edited.root.rglob("__pycache__"), *edited.elsewhere.rglob("__pycache__")]:
            shutil.rmtree(folder)
        return "removed"
    for place in (edited.root, edited.elsewhere, edited.site):
        compileall.compile_dir(place, quiet=2)
    return "made"


def _claim(edited: Edited) -> str:
    path = edited.random.choice(sorted(edited.root.glob("t_*.py")))
    text = path.read_text("utf-8")
    more = f"\n\n@gradcheck(args=(2.0,))\ndef more{len(text)}(x):\n    return 3.25 * x\n"
    name = re.search(r"\n\n@gradcheck\(args=\(2\.0,\)\)\ndef more.*", text, re.DOTALL)
    edited.write(path, text[: name.start()] if name else text + more)
    return path.name


def _settings(edited: Edited) -> str:
    path = edited.root / "pyproject.toml"
    old, new = edited.random.choice(
        [
            ("0.001", "0.002"),
            ("0.002", "0.001"),
            ("[1.0]", "[2.0]"),
            ("[2.0]", "[1.0]"),
            ("[tool.gradhook]", "# a line\n[tool.gradhook]"),
        ]
    )
    edited.write(path, path.read_text("utf-8").replace(old, new, 1))
    return new


EDITS: dict[str, tuple[Callable[[Edited], str], int]] = {
    "constant": (_constant, 6), "code": (_code, 5), "layout": (_layout, 8), "decorator": (_decorator, 2),
    "data": (_data, 4), "data file": (_data_file, 2), "variable": (_variable, 3), "patch": (_patch, 3),
    "version": (_version, 2), "distribution": (_patched_distribution, 2), "link": (_link, 2),
    "path file": (_path_file, 2), "moved": (_moved, 2), "renamed": (_renamed_target, 2),
    "in front": (_in_front, 3), "reverted": (_reverted, 5),
    "clock": (_clock, 4), "touched": (_touched, 1), "byte code": (_compiled, 3), "claim": (_claim, 3),
    "settings": (_settings, 2),
}  # fmt: skip
"""What is done, and how often in proportion."""
