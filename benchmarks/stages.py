"""Where the time of a check goes: CPU seconds of one worker by stage, and by the question that caused them.

    python benchmarks/stages.py [--questions] [PART ...]

The worker's loop runs in this process, under a sampler of CPU time (``ITIMER_PROF``) that books each slice on what the
stack shows: XLA compiling, JAX lowering, JAX tracing, compiled code running, or gradhook itself. With ``--questions``,
the module of the check that asked as well. Parts: ``examples``, ``leaves`` (20), ``scalars`` (500), ``failing``, and
``solver``, which needs diffrax. Each is a process of its own; ``import`` is what came before the first target. The last
column is ``check_grads(order=1, modes=("rev",))`` on the same functions and inputs, where it stands.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).parent
PARTS = {
    "examples": HERE.parent / "examples",
    "leaves": HERE / "stages_project" / "leaves.py",
    "scalars": HERE / "stages_project" / "scalars.py",
    "failing": HERE / "stages_project" / "failing.py",
    "solver": HERE / "stages_project" / "solver.py",
}
STAGES = ("compile", "lower", "trace", "run", "ours", "import")
INTERVAL = 0.001
"""Seconds of CPU between two samples; one that falls into C code is taken at its end, with all that it took."""
_MARKS = (
    ("jax/_src/compiler.py", "compile"),
    ("jax/_src/interpreters/mlir.py", "lower"),
    ("jax/_src/interpreters/pxla.py", "run"),
    ("jax/_src/", "trace"),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", action="store_true")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []])
    options = parser.parse_args()
    if options.into:
        options.into.write_text(json.dumps(measured(PARTS[options.part[0]])), encoding="utf-8")
        return
    print(f"{'part':>10} {'CPU':>8} {'programs':>9} " + " ".join(f"{stage:>8}" for stage in STAGES))
    for part in options.part or PARTS:
        if part == "solver" and importlib.util.find_spec("diffrax") is None:
            print(f"{part:>10} left out: diffrax is not installed")
            continue
        _print(part, options.questions)


def measured(path: Path) -> dict[str, Any]:
    """CPU seconds by stage and by question, of everything that a worker does about a path."""
    from gradhook.execution import runner
    from gradhook.execution.worker.requests import main as worker
    from gradhook.model import protocol as wire
    from gradhook.projects import discovery

    (project,) = discovery.find([path], {"cache": False})
    jobs = project.jobs
    orders: Iterator[wire.Ask] = iter([*(wire.Ask(job.number) for job in jobs), wire.Ask(None)])
    sampler, compilations = Sampler(), [0]

    def send(message: wire.Message) -> None:
        if isinstance(message, wire.Began):  # a worker stops the timers of user code before each target
            sampler.arm(message.stage != "import")
        if isinstance(message, wire.Answered):
            compilations[0] += message.report.seconds.compilations

    with sampler:
        worker(runner.request(project), send, lambda: next(orders, None))
    return {"stages": sampler.stages, "questions": sampler.questions, "programs": compilations[0]}


class Sampler:
    """Books CPU time on what the stack shows when it is seen."""

    def __init__(self) -> None:
        self.started = False
        self.stages: Counter[str] = Counter()
        self.questions: Counter[str] = Counter()

    def __enter__(self) -> Sampler:
        self._seen = 0.0
        self.arm(started=False)
        return self

    def __exit__(self, *error: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def arm(self, started: bool) -> None:
        """Sample from now on; ``started``: what comes is about a target."""
        self._sample(0, None)
        self.started = started
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)

    def _sample(self, _: int, frame: FrameType | None) -> None:
        now = time.process_time()
        stage, question = seen(frame) if self.started else ("import", "")
        self.stages[stage] += now - self._seen
        self.questions[f"{question} {stage}"] += now - self._seen
        self._seen = now


def seen(frame: FrameType | None) -> tuple[str, str]:
    """The stage of the innermost frame that tells it, and the outermost modules of gradhook that lead to it."""
    stage, ways = "", []
    while frame is not None:
        path = frame.f_code.co_filename
        found = next((name for part, name in _MARKS if part in path), "")
        if found and stage in ("", "trace") and not (stage == "trace" and found == "run"):
            stage = found
        if "gradhook/checks" in path or "gradhook/numerics" in path:
            stage = stage or "ours"
            ways.append(Path(path).stem)
        frame = frame.f_back
    return stage or "ours", " < ".join(dict.fromkeys(ways[::-1]))


def _print(part: str, questions: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder, "found.json")
        subprocess.run([sys.executable, __file__, part, "--into", str(into)], check=True, capture_output=True)
        found = json.loads(into.read_text(encoding="utf-8"))
    stages = found["stages"]
    columns = " ".join(f"{stages.get(stage, 0.0):>8.2f}" for stage in STAGES)
    print(f"{part:>10} {sum(stages.values()):>8.2f} {found['programs']:>9} {columns}", flush=True)
    for name, seconds in Counter(found["questions"]).most_common(40) if questions else ():
        print(f"{seconds:>10.2f}  {name}")


if __name__ == "__main__":
    main()
