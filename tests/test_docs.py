"""Does the documentation tell the truth? Its files are written and its commands run, in order, as a reader would.

A block of Python or TOML whose first line is ``# name`` is that file; a line ``$ command`` of a block is run, and what
stands below must come out. White space, times, versions and the digits of error bars may differ; a line ``...`` stands
for anything. With ``GRADHOOK_DOCS=write`` in the environment, what comes out is written into the documents instead.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"# ([\w./-]+\.\w+)\n")
VARIES = [
    (re.compile(r"gradhook \d\S* · .*?seed \d+", re.DOTALL), "VERSIONS"),
    (re.compile(r"(?<=gradhook )\d[\d.]+"), "VERSION"),
    (re.compile(r"(?<=in )\d+\.\d s"), "N s"),
    (re.compile(r"(?<=± )[\d.e+-]+"), "N"),
    (re.compile(r"(?<=resolution )[\d.e+-]+"), "N"),
    (re.compile(r"(?<=checked \d of \d targets at )[\d:]+"), "NOW"),
]
DOCUMENTS = [path for path in sorted((ROOT / "docs").glob("*.md")) if "```console" in path.read_text(encoding="utf-8")]


@dataclass
class Reader:
    """Somebody who follows a document in a folder of their own."""

    folder: Path
    environ: dict[str, str]
    code: int = 0

    def follow(self, kind: str, block: str) -> str:
        """Do what a block says; the block with what really came out."""
        named = NAMED.match(block)
        if kind in ("python", "toml") and named:
            file = self.folder / named[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block, encoding="utf-8")
        if not block.startswith("$ "):
            return block
        commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
        return "".join(f"$ {command}\n{self.run(command)}" for command in commands)

    def run(self, command: str) -> str:
        if command == "echo $?":
            return f"{self.code}\n"
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environ, check=False, encoding="utf-8",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
        )  # fmt: skip
        self.code = done.returncode
        return done.stdout


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """Their PATH has this gradhook, their project is no repository yet."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, words in {"gradhook": "-m gradhook", "python": ""}.items():
        (commands / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n', encoding="utf-8")
        (commands / name).chmod(0o755)
    ours = ("GRADHOOK_", "GIT_", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "VIRTUAL_ENV", "CONDA", "UV_", "CI", "GITHUB_")
    environ = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    environ |= {"PATH": f"{commands}{os.pathsep}{environ['PATH']}", "PYTHONPATH": str(ROOT)}
    environ |= {"PYTHONDONTWRITEBYTECODE": "1"}
    (tmp_path / "demo").mkdir()
    return Reader(tmp_path / "demo", environ)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_what_is_shown_comes_out(document: Path, reader: Reader) -> None:
    pytest.importorskip("jax")
    text = document.read_text(encoding="utf-8")
    real = BLOCK.sub(lambda block: f"```{block[1]}\n{_kept(block[2], reader.follow(block[1], block[2]))}```", text)
    if os.environ.get("GRADHOOK_DOCS") == "write":
        document.write_text(real, encoding="utf-8")
    for shown, came in zip(BLOCK.findall(text), BLOCK.findall(real), strict=True):
        assert _same(shown[1]) == _same(came[1])


def test_the_readme_shows_what_comes_out(reader: Reader) -> None:
    """Its blocks are excerpts; those about the examples can be run."""
    pytest.importorskip("jax")
    shutil.copytree(ROOT / "examples", reader.folder / "examples")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = [block for _, block in BLOCK.findall(text) if re.match(r"\$ .*\bexamples/", block)]
    assert blocks
    for block in blocks:
        command, _, shown = block.removeprefix("$ ").partition("\n")
        assert _same(shown) in _same(reader.run(command))


def test_the_first_claim_of_the_readme_is_an_example() -> None:
    blocks = [block for kind, block in BLOCK.findall((ROOT / "README.md").read_text("utf-8")) if kind == "python"]
    assert (ROOT / "examples" / "quickstart.py").read_text("utf-8").endswith(blocks[0])


def _kept(shown: str, came: str) -> str:
    """What came out, unless what is shown fits it, times and all."""
    return shown if _same(shown) == _same(came) or _fits(shown, came) else came


def _fits(shown: str, came: str) -> bool:
    if "\n...\n" not in shown:
        return False
    parts = [re.escape(_same(part)) for part in shown.split("\n...\n")]
    return re.fullmatch(r"\s*.*\s*".join(parts), _same(came), re.DOTALL) is not None


def _same(text: str) -> str:
    """The text without what may differ."""
    text = " ".join(text.split())
    for pattern, word in VARIES:
        text = pattern.sub(word, text)
    return text


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_links_lead_somewhere(page: Path) -> None:
    tokens = [t for token in MarkdownIt().parse(page.read_text(encoding="utf-8")) for t in token.children or ()]
    links = [str(t.attrGet("href")) for t in tokens if t.type == "link_open"]
    for link in links:
        if not re.match(r"\w+:", link):
            path, _, anchor = link.partition("#")
            target = (page.parent / path) if path else page
            assert target.exists(), link
            assert not anchor or anchor in _anchors(target), link


def test_every_page_can_be_found() -> None:
    """From the index, or from the README."""
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("docs/README.md", "README.md"))
    for page in (ROOT / "docs").glob("*.md"):
        assert re.search(rf"\((docs/)?{re.escape(page.name)}", text), page.name


def test_blocks_of_yaml_and_toml_can_be_read() -> None:
    for page in PAGES:
        for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
            if kind == "yaml":
                assert yaml.safe_load(block)
            if kind == "toml":
                assert tomllib.loads(block)


def _anchors(page: Path) -> set[str]:
    """The headings as GitHub links to them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
