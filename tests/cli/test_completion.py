"""Do real shells complete commands, codes and targets?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gradhook as package
from gradhook.model.rule_docs import codes

REPOSITORY = Path(package.__file__).parents[1]
CASES = [
    ("gradhook ch", ["check"]),
    ("gradhook rule GRD50", [code for code in codes() if code.startswith("GRD50")]),
    ("gradhook rule GRD101 GRD20", [f"GRD20{n}" for n in range(1, 9)]),
    ("gradhook check --select GRD101,GRD11", ["GRD101,GRD110"]),
    ("gradhook check -k goo", ["good", "good_too"]),
    ("gradhook list -k b", ["bad"]),
    ("gradhook completion ", ["bash", "fish", "zsh"]),
    ("gradhook check -k nothing_like_it", []),
]
SHELLS = {
    "bash": """
eval "$(gradhook completion bash)"
COMP_LINE=$1; COMP_POINT=${#1}
read -ra COMP_WORDS <<< "$1"; [[ $1 == *\\  ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
f=$(complete -p gradhook | sed 's/.*-F \\([^ ]*\\).*/\\1/')
$f gradhook "${COMP_WORDS[COMP_CWORD]}" ""
printf '%s\\n' "${COMPREPLY[@]}"
""",
    "fish": """
gradhook completion fish | source
complete --do-complete $argv[1]
""",
    "zsh": """
autoload -Uz compinit && compinit -u -D
eval "$(gradhook completion zsh)"
compdef() { :; }
_describe() { local name=$3; print -l -- "${(@P)name}"; }
compadd() { shift $(($# - 1)); print -l -- "${(@P)1}"; }
words=(${=1}); [[ $1 == *\\  ]] && words+=("")
CURRENT=$#words
_gradhook_completion
""",
}

Complete = Callable[[str, str], list[str]]


@pytest.fixture
def complete(tmp_path: Path, project: Callable[..., Path]) -> Complete:
    """``complete("bash", "gradhook ru")``: what the shell offers where there are good, good_too and bad."""
    folder = project("good", "good_too", "bad")
    command = tmp_path / "bin" / "gradhook"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gradhook "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GRADHOOK_")},
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
        "HOME": str(tmp_path),
    }  # fmt: skip

    def run(shell: str, line: str) -> list[str]:
        found = shutil.which(shell)
        if found is None:
            pytest.skip(f"no {shell} here")
        words = [found, "-c", SHELLS[shell], *([] if shell == "fish" else ["-"]), line]
        done = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True, check=False)
        assert not done.stderr, done.stderr
        offers = (line.split("\t")[0].split(":")[0] for line in done.stdout.splitlines())
        return sorted({offer for offer in offers if offer})

    return run


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("line", "offers"), CASES, ids=[line for line, _ in CASES])
def test_offers(complete: Complete, shell: str, line: str, offers: list[str]) -> None:
    if shell == "fish" and "," in line:
        pytest.skip("click's script for fish cuts offers at a comma")
    assert complete(shell, line) == sorted(offers)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_project_in_disorder_offers_nothing(complete: Complete, shell: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool", encoding="utf-8")
    assert complete(shell, "gradhook check -k goo") == []


def test_a_shell_that_is_not_known(gradhook) -> None:
    assert gradhook("completion", "csh").code == 2
