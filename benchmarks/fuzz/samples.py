"""What do the documents look like before they are broken? One of each kind of record in them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from gradhook.config.settings import OPTIONS, Settings
from gradhook.execution.cache import store
from gradhook.execution.cache.fingerprints import content
from gradhook.execution.cache.passes import Kept, recall, remember
from gradhook.execution.cache.store import Store
from gradhook.execution.cache.syntax import Shapes
from gradhook.model.protocol import Answered, Began, Bye, DependencyReport, Discovered, Hello, Job, Request, encode
from gradhook.model.report import Change, Ignored, Notice, Report
from gradhook.model.results import ClaimKind, Finding, Outcome, Seconds, Target, TargetReport, Verdict
from gradhook.model.trace import Curve, Jacobian, Staircase
from gradhook.reporters import json_report

_CURVE = Curve("d out / d x", "fwd", -0.5, float("nan"), 2e-11, "kink", (0.2,), (0.5,), (1e-15,), (-1.0,), (0.0,))
_FINDING = Finding(
    "GRD101", Verdict.FAIL, "d out / d x[0, 1]: JAX gives 1 (jvp), finite differences give 2",
    "args", "fwd", 1, "x", (0, 1), "out",
    1.0, 2.0, 1e-11, 1e-9, float("inf"), "a.py", 3, "look", "gradhook check a.py", _CURVE,
)  # fmt: skip
_JACOBIAN = Jacobian("rev", ("x",), ("out",), ((1.0,),), ((1.0,),))
_STAIRS = Staircase("x", "out", (0.0, 1.0), (0.0, 1.0), (1.0, 1.0))
_TABLE = "left | on | right of each boundary: x = 0.5: value 0 | 0 | 1, derivative 1 | 1 | 1"
_OUTCOMES = (
    Outcome("GRD101", Verdict.PASS, "args", (), 1e-9, "", _CURVE, _JACOBIAN),
    Outcome("GRD207", Verdict.PASS, "args", (), note=_TABLE, staircases=(_STAIRS,)),
)


def _answer(name: str, verdict: Verdict) -> TargetReport:
    target = Target("pkg.a", name, "a.py", 3, 2, ClaimKind.EXACT, "/root", lines=(2, 3))
    found = () if verdict is Verdict.PASS else (replace(_FINDING, verdict=verdict),)
    outcomes = (*_OUTCOMES, *(Outcome(f.code, f.verdict, f.case, (f,)) for f in found))
    return TargetReport(target, verdict, outcomes, found, 1e-9, Seconds(0.1, 0.2), output="printed\n", ignore=("GRD4",))


def _report(*verdicts: Verdict) -> Report:
    return Report(
        tuple(_answer(f"f{n}", verdict) for n, verdict in enumerate(verdicts)),
        (Notice("GRD501", "a.py", 7, "custom rule without a claim"),),
        {"jax": "0.10.2", "x64": True, "device": "cpu", "variables": {"XLA_FLAGS": "-x"}},
        {name: {"value": value, "origin": "default"} for name, value in vars(Settings()).items()},
        1.5,
        ignored=(Ignored("GRD501", "comment a.py:9", "a.py", 9, "custom rule"),),
        against=(Change("weakened", "pkg.a:f0", "rtol", "1e-9", "0.1", "a.py", 3),),
    )


MESSAGES = tuple(
    json.loads(encode(message))
    for message in (
        Request("/root", ("/root",), (Job(0, _answer("f", Verdict.PASS).target, {"args": ["1.0"]}),)),
        Hello({"jax": "0.10.2"}), Began(0, "args", 3), Answered(0, _answer("f", Verdict.FAIL), 9),
        Discovered(Job(1, _answer("g", Verdict.PASS).target)), Bye(True),
        DependencyReport((("/project/a.py", "1", "2"),), {"0": [0]}, {}, {"rows": [0]}),
    )
)  # fmt: skip
REPORTS = tuple(
    json.loads(json_report.render(_report(*verdicts), code))
    for verdicts, code in (
        ((Verdict.PASS, Verdict.FAIL, Verdict.UNDECIDED), 1), ((Verdict.PASS, Verdict.ERROR), 2),
        ((Verdict.UNDECIDED,), 1), ((Verdict.FAIL, Verdict.ERROR, Verdict.SKIP), 2),
    )
)  # fmt: skip

_ATOMS = (
    "1", "-1", "0", "1e400", "nan", "-inf", "9" * 400, "0x1F", "true", "'x'", '""', '"GRD1"', "['GRD1', 3]", "[]", "{}",
    "{a = 1}", "['a', 'b']", "'''\nx'''", "1979-05-27", "[[1], ['x']]", '"\\u0000"', '"\\U0010FFFF"', "['**/*']",
    "{'tests/*' = ['GRD1']}", "{'tests/*' = 3}", "[" * 500 + "]" * 500, '"' + "x" * 3000 + '"', "\x00", "?", "1_000",
)  # fmt: skip


def toml(rng: random.Random, name: str) -> str:
    """A configuration of keys that exist, mostly, with values that may be right."""
    keys = [*(option.toml for option in OPTIONS), "targets", "no-such-key", "a.b", '"quoted key"', "order"]
    lines = [f"{rng.choice(keys)} = {_value(rng)}" for _ in range(rng.randint(0, 6))]
    lines += ['[{table}targets."pkg.mod:f"]', f"rtol = {_value(rng)}", f"args = {_value(rng)}"] * (rng.random() < 0.3)
    lines += [f"[{{table}}targets.{rng.choice(_ATOMS)}]", "order = 2"] * (rng.random() < 0.1)
    table = "" if name == "gradhook.toml" else "tool.gradhook."
    head = "" if name == "gradhook.toml" or rng.random() < 0.05 else "[tool.gradhook]\n"
    if rng.random() < 0.2:
        rng.shuffle(lines)
    return head + "\n".join(lines).replace("{table}", table) + "\n"


def _value(rng: random.Random) -> str:
    option = rng.choice(OPTIONS)
    likely = [f'"{choice}"' for choice in option.choices] or ["2", "1e-6"]
    return rng.choice(likely) if rng.random() < 0.5 else rng.choice(_ATOMS)


@dataclass(frozen=True)
class Cached:
    """A cache with one pass in it, and what signs its entries."""

    passes: Kept
    jobs: tuple[Job, ...]
    files: tuple[Path, ...]
    sign: Callable[[Path, str], None]


@cache
def cached(folder: Path) -> Cached:
    """One pass that rests on one file."""
    source = folder / "source.py"
    source.write_text("x = 1\n", encoding="utf-8")
    passes = Kept(Store(folder / "cache", b"k" * 32), "basis", {}, Shapes())
    answer = _answer("f", Verdict.PASS)
    jobs = (Job(0, answer.target),)
    common = {"rows": [0], "variables": [], "modules": [], "sites": {}, "names": []}
    remember(
        passes,
        jobs,
        {0: answer},
        DependencyReport(((str(source), "", content(str(source))),), {"0": [0]}, {}, common),
        {},
    )
    assert recall(passes, jobs, [0]).reports, "the sample is no pass"

    def sign(path: Path, text: str) -> None:
        body = text.encode("utf-8", "surrogatepass")
        name = f"{path.parent.name}/{path.name}"
        path.write_bytes(store.sign(passes.store.key, name, body).encode() + b"\n" + body)

    files = tuple(path for path in (folder / "cache").rglob("*") if path.is_file())
    return Cached(passes, jobs, files, sign)
