"""Texts of the pre-commit hook and of the GitHub workflow."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from gradhook import __version__

REPOSITORY_URL = "https://github.com/gradhook/gradhook"
CONFIG = Path(".pre-commit-config.yaml")
WORKFLOW = Path(".github", "workflows", "gradhook.yml")

_CI = """\
ci:
  skip: [gradhook]  # pre-commit.ci has no network and no room for JAX

"""
_HOOK = """\
- repo: {home}
  rev: v{version}
  hooks:
    - id: gradhook
"""
_WORKFLOW = """\
name: gradhook

on:
  pull_request:
  push:
    branches: [main, master]

permissions:
  contents: read

concurrency:
  group: gradhook-${{{{ github.ref }}}}
  cancel-in-progress: true

jobs:
  gradhook:
    name: gradhook
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
        with:
          persist-credentials: false
          fetch-depth: 2 # the base of a pull request, to compare with
{install}
      - uses: {action}@v{version}
"""
_UV = """\
      - uses: astral-sh/setup-uv@c18668ad3cf93ea998bef934396af7bb5c839dc7 # v10.2.0
        with:
          enable-cache: false
      - run: uv sync --locked"""
_PIP = """\
      - uses: actions/setup-python@a309ff8b426b58ec0e2a45f0f869d46889d02405 # v6.2.0
        with:
          python-version: "3.12"
      - run: python -m pip install {what}"""


def hook(home: str, indent: str = "  ") -> str:
    """The entry in the list ``repos:``."""
    text = _HOOK.format(home=home, version=__version__)
    return "".join(f"{indent}{line}\n" for line in text.splitlines())


def config(home: str) -> str:
    """A whole new ``.pre-commit-config.yaml``."""
    return f"{_CI}repos:\n{hook(home)}"


def workflow(home: str, root: Path) -> str:
    """The workflow for the repository at ``root``, which installs what its files require."""
    return _WORKFLOW.format(action=urlsplit(home).path.strip("/"), version=__version__, install=_install(root))


def with_hook(text: str, home: str) -> str | None:
    """An existing configuration with the entry at the end of its list; None where there is no such list.

    The text is not parsed and written anew: comments and layout are the user's.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if re.fullmatch(r"repos:\s*(#.*)?", line)), None)
    items = lines[start + 1 :] if start is not None else []
    first = next((n for n, line in enumerate(items) if line.strip() and not line.lstrip().startswith("#")), None)
    if start is None or first is None or not (found := re.match(r"( *)- ", items[first])):
        return None
    end = start + 1 + first + _list_length(items[first:], found[1])
    return newline.join([*lines[:end], *hook(home, found[1]).splitlines(), *lines[end:], ""])


def _list_length(lines: list[str], indent: str) -> int:
    """How many lines a list takes up, without blank lines and comments at its end."""
    inside = re.compile(rf"{indent}(?:- |-$| )")
    last = 0
    for n, line in enumerate(lines, 1):
        if inside.match(line) and not (line.lstrip().startswith("#")):
            last = n
        elif line.strip() and not line.lstrip().startswith("#"):
            break
    return last


def _install(root: Path) -> str:
    if (root / "uv.lock").is_file():
        return _UV
    if (root / "pyproject.toml").is_file() and "[project]" in (root / "pyproject.toml").read_text("utf-8", "replace"):
        return _PIP.format(what="-e . jax")
    return _PIP.format(what="-r requirements.txt jax" if (root / "requirements.txt").is_file() else "jax")
