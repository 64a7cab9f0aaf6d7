"""The files of the project: each target depends on something in another way."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path

_F = "from gradhook import gradcheck\n{imports}\n\n\n@gradcheck(args=(1.5,){more})\ndef {name}(x):\n    {body}\n"


def _target(name: str, imports: str = "", body: str = "return x", more: str = "") -> str:
    return _F.format(name=name, imports=imports, body=body, more=more)


def _scaled(name: str, imports: str, value: str) -> str:
    """A target of two functions: one that depends on something, one that depends on nothing."""
    return _target(name, imports, f"return {value} * x + 0.25") + _target(f"{name}_alone", body="return 2.0 * x")


HELPERS = {
    "low.py": "factor = 2.0\n\n\ndef scale(x):\n    return factor * x\n",
    "deco.py": "gain = 1.5\n\n\ndef gained(f):\n    def inner(x):\n        return gain * f(x)\n\n    return inner\n",
    "mid.py": "from deco import gained\nfrom low import scale\n\n\n@gained\ndef mid(x):\n    return scale(x) + 1.0\n",
    "pkg/__init__.py": "",
    "pkg/core.py": "from .inner import value\n\n\ndef core(x):\n    return value * x\n",
    "pkg/inner.py": "value = 1.25\n",
    "reading.py": "from pathlib import Path\n\ntable = float(Path('data/table.txt').read_text())\n",
    "low2.py": "rate = 1.0\n\n\ndef rated(x):\n    return rate * x\n",
    "patching.py": "import low2\n\nlow2.rate = 4.0\n",
    "registry.py": "KNOWN = {}\n\n\ndef register(f):\n    KNOWN[f.__name__] = f\n    return f\n",
    "registered.py": "from registry import register\n\n\n@register\ndef slope(x):\n    return 1.75 * x\n",
    "src/common.py": "common = 1.125\n",
    "data/table.txt": "3.0",
    "data/call.txt": "2.5",
    "data/more/one.txt": "1.0",
}
TARGETS = {
    "t_low.py": _scaled("direct", "from low import scale", "scale(1.0)"),
    "t_attribute.py": _scaled("attribute", "import low", "low.factor"),
    "t_mid.py": _scaled("decorated", "from mid import mid", "mid(1.0)"),
    "t_pkg.py": _scaled("package", "from pkg.core import core", "core(1.0)"),
    "t_call.py": _scaled("data_in_the_call", "from pathlib import Path", "float(Path('data/call.txt').read_text())"),
    "t_read.py": _scaled("data_at_import", "import reading", "reading.table"),
    "t_names.py": _scaled("names_in_a_folder", "import os", "len(os.listdir('data/more'))"),
    "t_environ.py": _scaled("variable", "import os", "float(os.environ.get('STALE_RATE', '1.0'))"),
    "t_patched.py": _scaled("patched", "import low2", "low2.rated(1.0)"),
    "t_patching.py": _scaled("patching", "import patching", "1.5"),
    "t_registry.py": _scaled("registered", "import registered, registry", "sum(f(1) for f in registry.KNOWN.values())"),
    "t_dist.py": _scaled("installed", "import thing", "thing.value"),
    "t_version.py": _scaled("version", "import importlib.metadata", "float(importlib.metadata.version('thing')[:3])"),
    "t_link.py": _scaled("linked", "import linked", "linked.value"),
    "t_pth.py": _scaled("path_file", "import away", "away.value"),
    "t_name.py": _scaled("by_name", "import importlib", "importlib.import_module('lo' + 'w').factor"),
    "t_maybe.py": _scaled("optional", "try:\n    from extra import more\nexcept ImportError:\n    more = 0.5", "more"),
    "t_common.py": _scaled("in_front", "from common import common", "common"),
    "t_source.py": _scaled("source", "import inspect\nimport low", "len(inspect.getsource(low))"),
    "t_line.py": _scaled("line", "", "f_line.__code__.co_firstlineno") + "\n\ndef f_line():\n    return 1.0\n",
    "t_hidden.py": "from gradhook import gradcheck\nfrom low import factor\n\n\n"
    "def one(x):\n    return factor * x\n\n\n"
    "def two(x):\n    return 1.5 * x\n\n\nfor f in (one, two):\n    gradcheck(args=(1.0,))(f)\n" + _target("seen"),
    "t_declared.py": _target(
        "declared", "from pathlib import Path",
        "return sum(float(p.read_text()) for p in Path('data').glob('more/*.txt'))",
        ", depends_on='data/more/*.txt'",
    ),
    "named.py": "from low import scale\n\n\ndef named(x):\n    return scale(x) + 0.5\n",
}  # fmt: skip
CONFIGURATION = '[tool.gradhook]\nrtol = 0.001\n\n[tool.gradhook.targets."named:named"]\nargs = [1.0]\n'
DISTRIBUTION = {
    "thing.py": "value = 1.0\n",
    "thing-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n",
    "thing-1.0.dist-info/RECORD": "thing.py,sha256=a,12\nthing-1.0.dist-info/METADATA,,\n",
}


@dataclass
class Edited:
    """The project, the folder of installed distributions, folders elsewhere, and every text that a file ever had."""

    root: Path
    site: Path
    elsewhere: Path
    python: Path
    random: random.Random
    texts: dict[Path, list[str]] = field(default_factory=dict)

    def write(self, path: Path, text: str) -> None:
        """Give a file a text, through a link if it is one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.texts.setdefault(path, []).append(text)

    def code(self) -> list[Path]:
        """The Python files of the project and elsewhere, in order."""
        return sorted(path for folder in (self.root, self.elsewhere) for path in folder.rglob("*.py"))

    def data(self) -> list[Path]:
        """The data files, in order."""
        return sorted((self.root / "data").rglob("*.txt"))


def make(folder: Path, seed: int) -> Edited:
    """A new project below ``folder``, in a repository, with an environment of its own."""
    root, elsewhere = folder / "project", folder / "elsewhere"
    venv.create(folder / "environment", symlinks=os.name != "nt")
    site = next((folder / "environment").rglob("site-packages"))
    edited = Edited(root, site, elsewhere, folder / "environment" / "bin" / "python", random.Random(seed))
    for name, text in {**HELPERS, **TARGETS, "pyproject.toml": CONFIGURATION}.items():
        edited.write(root / name, text)
    for name, text in DISTRIBUTION.items():
        edited.write(site / name, text)
    for name in ("one", "two"):
        edited.write(elsewhere / name / "away.py", f"value = {len(name)}.5\n")
        edited.write(elsewhere / f"{name}.py", f"value = {len(name)}.25\n")
    (root / "linked.py").symlink_to(elsewhere / "one.py")
    edited.write(site / "away.pth", f"{elsewhere / 'one'}\n")
    installed = [place for place in sys.path if place.endswith("site-packages")]
    (site / "installed.pth").write_text("\n".join(installed) + "\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return edited
