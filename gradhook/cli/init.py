"""The command `gradhook init`: the hook and the workflow for a repository, and their texts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import click

from gradhook import __version__
from gradhook.cli.display import repository
from gradhook.cli.exit_codes import CLEAN
from gradhook.model.errors import GradhookError

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


@dataclass(frozen=True)
class _Plan:
    """What is to be done about one file: its new text, or the reason why nothing is."""

    path: Path
    block: str
    text: str | None
    reason: str


@click.command()
@click.option("--write", is_flag=True, help="Write the files instead of showing what belongs into them.")
@click.option(
    "--repo",
    "home",
    default=REPOSITORY_URL,
    metavar="URL",
    help=f"Where gradhook comes from.  [{REPOSITORY_URL}]",
)
def init(write: bool, home: str) -> int:
    """Show the pre-commit hook and the GitHub workflow for this repository, or write them.

    Nothing is ever overwritten: an existing list of hooks gets one more entry, an existing workflow stays as it is.
    """
    root = repository(Path.cwd(), os.environ)
    plans = [_config(root, home), _workflow(root, home)]
    for plan in plans:
        click.echo(_written(plan, root) if write else _shown(plan, root))
    stuck = [plan for plan in plans if write and plan.text is None and plan.block]
    if stuck:
        raise GradhookError(f"{stuck[0].path.relative_to(root)}: {stuck[0].reason}", "add by hand what stands above")
    return CLEAN


def _config(root: Path, home: str) -> _Plan:
    path = root / CONFIG
    text = _read(path)
    if text is None:
        return _Plan(path, config(home), config(home), "new")
    if "gradhook" in text:
        return _Plan(path, "", None, "mentions gradhook already")
    longer = with_hook(text, home)
    reason = "has no list `repos:` that could be added to" if longer is None else "one more entry below `repos:`"
    return _Plan(path, hook(home), longer, reason)


def _workflow(root: Path, home: str) -> _Plan:
    path = root / WORKFLOW
    if path.exists():
        return _Plan(path, "", None, "is there already")
    text = workflow(home, root)
    return _Plan(path, text, text, "new")


def _shown(plan: _Plan, root: Path) -> str:
    head = f"# {plan.path.relative_to(root).as_posix()}: {plan.reason}"
    return f"{head}\n{plan.block}" if plan.block else head


def _written(plan: _Plan, root: Path) -> str:
    name = plan.path.relative_to(root).as_posix()
    if plan.text is None:
        return _shown(plan, root)
    is_new = plan.reason == "new"
    _guarded(plan.path, lambda: _create(plan) if is_new else _replace(plan))
    return f"wrote {name}" if is_new else f"{name}: {plan.reason}"


def _create(plan: _Plan) -> None:
    plan.path.parent.mkdir(parents=True, exist_ok=True)
    with plan.path.open("x", encoding="utf-8", newline="") as file:
        file.write(plan.text or "")


def _replace(plan: _Plan) -> None:
    with plan.path.open("w", encoding="utf-8", newline="") as file:
        file.write(plan.text or "")


def _read(path: Path) -> str | None:
    """The text of a file, its line ends untouched; nothing if there is none."""
    try:
        return path.read_bytes().decode() if path.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise GradhookError(f"{path} cannot be read: {error}", "mend the file") from error


def _guarded(path: Path, write: Callable[[], None]) -> None:
    try:
        write()
    except OSError as error:
        raise GradhookError(f"{path} cannot be written: {error.strerror}", "check its permissions") from error
