"""Does ``gradhook init`` write what works, and never over what somebody else wrote?"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from gradhook import __version__
from gradhook.cli.init import REPOSITORY_URL, with_hook

CONFIG, WORKFLOW = ".pre-commit-config.yaml", ".github/workflows/gradhook.yml"


def text(path: str) -> str:
    return Path(path).read_bytes().decode()


def test_it_shows_and_writes_nothing(gradhook, tmp_path: Path) -> None:
    said = gradhook("init")
    assert said.code == 0
    assert f"rev: v{__version__}" in said.out
    assert "uses: gradhook/gradhook@v" in said.out
    assert list(tmp_path.iterdir()) == []


def test_it_writes_once(gradhook, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert gradhook("init", "--write").out == f"wrote {CONFIG}\nwrote {WORKFLOW}\n"
    first = text(CONFIG), text(WORKFLOW)
    config = yaml.safe_load(first[0])
    assert config["repos"] == [{"repo": REPOSITORY_URL, "rev": f"v{__version__}", "hooks": [{"id": "gradhook"}]}]
    assert config["ci"] == {"skip": ["gradhook"]}
    said = gradhook("init", "--write")
    assert (said.code, text(CONFIG), text(WORKFLOW)) == (0, *first)
    assert said.out == f"# {CONFIG}: mentions gradhook already\n# {WORKFLOW}: is there already\n"


def test_it_writes_at_the_root_of_the_repository(gradhook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    gradhook("init", "--write")
    assert (tmp_path / CONFIG).is_file()


EXISTING = [
    "repos:\n  - repo: a\n    rev: 1\n    hooks:\n      - id: x\n",
    "# top\nrepos:  # all of them\n- repo: a\n  rev: 1\n  hooks:\n  - id: x\n\n# end\nexclude: b\n",
    "repos:\n# first\n    - repo: local\n      hooks:\n          - id: x\n            entry: |\n              repos:\n"
    "              - no\ndefault_stages: [pre-commit]\n",
    "exclude: z\nrepos:\n- repo: a\n  rev: 1\n  # note\n  hooks: [{id: x}]",
]


@pytest.mark.parametrize("old", EXISTING)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_existing_list_gets_one_more_entry(gradhook, old: str, newline: str) -> None:
    old = old.replace("\n", newline)
    Path(CONFIG).write_bytes(old.encode())
    assert gradhook("init", "--write").code == 0
    before, after = yaml.safe_load(old), yaml.safe_load(text(CONFIG))
    added = after["repos"].pop()
    assert after == before
    assert added["hooks"] == [{"id": "gradhook"}]
    lines, mine = text(CONFIG).splitlines(), old.splitlines()
    at = next(n for n, line in enumerate(lines) if REPOSITORY_URL in line)
    assert [*lines[:at], *lines[at + 4 :]] == mine
    assert ("\r\n" in text(CONFIG)) == (newline == "\r\n")


@pytest.mark.parametrize("old", ["repos: []\n", "exclude: x\n", "", "repos: &a [b]\n", "repos:\n", "{repos: []}\n"])
def test_what_it_does_not_understand_it_leaves(gradhook, old: str) -> None:
    Path(CONFIG).write_text(old, encoding="utf-8")
    said = gradhook("init", "--write")
    assert said.code == 2
    assert text(CONFIG) == old
    assert "- id: gradhook" in said.out
    assert Path(WORKFLOW).is_file()
    assert with_hook(old, REPOSITORY_URL) is None


def test_a_workflow_stays(gradhook) -> None:
    Path(WORKFLOW).parent.mkdir(parents=True)
    Path(WORKFLOW).write_text("mine\n", encoding="utf-8")
    assert gradhook("init", "--write").code == 0
    assert text(WORKFLOW) == "mine\n"


@pytest.mark.parametrize(
    ("files", "step"),
    [
        ({}, "python -m pip install jax"),
        ({"requirements.txt": "jax"}, "python -m pip install -r requirements.txt jax"),
        ({"pyproject.toml": "[project]\nname = 'x'"}, "python -m pip install -e . jax"),
        ({"pyproject.toml": "[project]\nname = 'x'", "uv.lock": ""}, "uv sync --locked"),
    ],
)
def test_the_workflow_installs_what_the_files_say(gradhook, files: dict[str, str], step: str) -> None:
    for name, content in files.items():
        Path(name).write_text(content, encoding="utf-8")
    gradhook("init", "--write", "--repo", "https://example.org/me/fork")
    steps = yaml.safe_load(text(WORKFLOW))["jobs"]["gradhook"]["steps"]
    assert step in [found.get("run") for found in steps]
    assert steps[-1]["uses"] == f"me/fork@v{__version__}"
