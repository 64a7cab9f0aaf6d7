"""What does a worker in this interpreter run on?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradhook.execution.supervisor.conversation import START
from gradhook.execution.supervisor.pool import BOOT
from gradhook.execution.supervisor.process import next_message, started, surroundings, tail
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import Hello, Request

_SHOWN = 2000


def greeting(
    python: Path, root: Path, *, platform: str | None = None, environ: Mapping[str, str] = os.environ
) -> Mapping[str, Any]:
    """The environment that a worker for ``root`` reports when it has loaded JAX; no module of the user's is imported.

    Raises:
        GradhookError: the interpreter cannot be run, or JAX does not come up in it.
    """
    request = Request(str(root), (), ())
    with started(python, BOOT, request, surroundings(python, platform, environ)) as worker:
        message = next_message(worker, START)
        if isinstance(message, Hello):
            return message.environment
        output = tail(worker, 0, None, _SHOWN).decode(errors="replace").strip()
    indented = "".join(f"\n  {line}" for line in output.splitlines())
    raise GradhookError(f"JAX does not come up in {python}{indented}", "does `import jax` work in that interpreter?")
