"""Do those who know the formats find nothing wrong with the files that others read?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

SOURCE = Path(__file__).parents[2]
WORKFLOWS = sorted(str(path.relative_to(SOURCE)) for path in (SOURCE / ".github" / "workflows").glob("*.yml"))


def tool(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    return found or pytest.skip(f"no {name} here: pip install {name}")


@pytest.mark.parametrize(
    "words",
    [
        [
            "zizmor",
            "--offline",
            "--persona=pedantic",
            "--no-progress",
            "action.yml",
            ".pre-commit-hooks.yaml",
            *WORKFLOWS,
        ],
        ["check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS],
        ["pre-commit", "validate-manifest", ".pre-commit-hooks.yaml"],
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_nothing_is_found(words: list[str], tmp_path: Path) -> None:
    environ = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path), "NO_COLOR": "1"}
    done = subprocess.run([tool(words[0]), *words[1:]], cwd=SOURCE, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_init_writes_is_clean(tmp_path: Path) -> None:
    """Except that the action is named by its tag: only who installs it knows the commit that they trust."""
    environ = {**os.environ, "PYTHONPATH": str(SOURCE), "PRE_COMMIT_HOME": str(tmp_path / "home"), "NO_COLOR": "1"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True)

    assert run(sys.executable, "-m", "gradhook", "init", "--write").returncode == 0
    assert run(tool("pre-commit"), "validate-config").returncode == 0
    workflow = ".github/workflows/gradhook.yml"
    assert run(tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", workflow).returncode == 0
    found = re.findall(
        r"^(?:error|warning|help)\[([\w-]+)\]", run(tool("zizmor"), "--offline", workflow).stdout, re.MULTILINE
    )
    assert found == ["unpinned-uses"]


def test_everything_used_is_pinned() -> None:
    used = [
        word for path in WORKFLOWS for word in re.findall(r"uses: (.+)", (SOURCE / path).read_text(encoding="utf-8"))
    ]
    assert used
    assert all(re.fullmatch(r"\./ # .+|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", word) for word in used)


def test_the_blocks_of_the_readme_are_yaml() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (SOURCE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        assert yaml.safe_load(block)
