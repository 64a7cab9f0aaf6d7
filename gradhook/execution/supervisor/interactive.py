"""Report the environment of a worker in a given interpreter."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradhook.execution.supervisor.conversation import START
from gradhook.execution.supervisor.pool import BOOT
from gradhook.execution.supervisor.process import next_message, printed_between, running_worker, worker_environment
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import Hello, Request

_SHOWN = 2000


def reported_environment(
    python: Path, root: Path, *, platform: str | None = None, environ: Mapping[str, str] = os.environ
) -> Mapping[str, Any]:
    """The environment that a worker reports after loading JAX; no user module is imported.

    Raises:
        GradhookError: the interpreter cannot be run, or JAX cannot be loaded in it.
    """
    request = Request(str(root), (), ())
    with running_worker(python, BOOT, request, worker_environment(python, platform, environ)) as worker:
        message = next_message(worker, START)
        if isinstance(message, Hello):
            return message.environment
        output = printed_between(worker, 0, None, _SHOWN).decode(errors="replace").strip()
    indented = "".join(f"\n  {line}" for line in output.splitlines())
    raise GradhookError(f"JAX does not come up in {python}{indented}", "does `import jax` work in that interpreter?")
