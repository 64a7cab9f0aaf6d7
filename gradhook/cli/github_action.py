"""Run the GitHub Action from its own checkout, whatever the job's Python has installed.

Run as a script, with ``python -P``; standard library only. gradhook is taken from the checkout and click from the job's
Python or, if it has none, from a temporary folder: nothing is installed into the job's environment, so its JAX stays.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

CLICK = (8, 1, 7)
REQUIREMENT = "click>=8.1.7,<9"


def main() -> None:
    """Import gradhook from the checkout and run its action."""
    home = Path(__file__).resolve().parents[2]
    sys.path[:] = [str(home), *(entry for entry in sys.path if entry and Path(entry).resolve() != home)]
    if not has_click():
        folder = Path(os.environ.get("RUNNER_TEMP") or tempfile.gettempdir(), "gradhook-click")
        if not (folder / "click").is_dir():
            install(folder)
        sys.path.insert(1, str(folder))
    from gradhook.cli.main import main as command

    command(["action"])


def has_click() -> bool:
    """Whether a click that is recent enough can be imported."""
    from importlib import metadata

    try:
        numbers = metadata.version("click").split(".")[:3]
        return tuple(map(int, numbers)) >= CLICK
    except (metadata.PackageNotFoundError, ValueError):
        return False


def install(folder: Path) -> None:
    """Install click into a folder: with pip, else with uv, whose environments have no pip."""
    target = ["--quiet", "--target", str(folder), REQUIREMENT]
    environ = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    commands = (
        [sys.executable, "-m", "pip", "install", *target],
        ["uv", "pip", "install", "--python", sys.executable, *target],
    )
    for command in commands:
        try:
            if subprocess.run(command, env=environ, stdin=subprocess.DEVNULL).returncode == 0:
                return
        except OSError:
            continue
    stop("click is missing and could be installed neither with pip nor with uv: add `pip install click` to the job")


def stop(reason: str) -> None:
    """End the step with an error annotation and its outputs."""
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a", encoding="utf-8") as file:
            file.write("exit-code=2\nverdict=error\n")
    sys.stdout.write(f"::error title=gradhook could not run::{reason}\n")
    sys.exit(2)


if __name__ == "__main__":
    main()
