"""Feed readers of messages, reports, settings and cache entries what others may have written."""

from __future__ import annotations

import copy
import json
import random
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fuzz.documents import hostile
from fuzz.samples import MESSAGES, REPORTS, cached, toml
from gradhook.cli import formats
from gradhook.cli.main import run as command
from gradhook.config import Source, load
from gradhook.execution.cache.passes import recall
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import decode, encode
from gradhook.reporters import json_reading
from gradhook.reporters.display_options import DisplayOptions


def run(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How many inputs of each kind came to what, and what went wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with TemporaryDirectory() as folder:
        for kind, judge in KINDS.items():
            for number in range(count):
                rng = random.Random(f"{kind}/{seed}/{number}")
                try:
                    fate = judge(rng, Path(folder))
                except BaseException:
                    fate = f"crashed: {traceback.format_exc(limit=-4)}"
                counts[f"{kind}: {fate.partition(':')[0]}"] += 1
                if fate.startswith(("crashed", "believed")):
                    wrong.append(f"{kind} {number} of seed {seed} {fate}")
    return counts, wrong


def message(rng: random.Random, folder: Path) -> str:
    """A line of the protocol: what is a message can be said again, everything else is refused."""
    try:
        found = decode(hostile(rng.choice(MESSAGES), rng))
    except GradhookError:
        return "refused"
    return "accepted" if decode(encode(found)) is not None else "crashed: it is lost"


def report(rng: random.Random, folder: Path) -> str:
    """A report: what is accepted can be written in every form, and has no better exit code than it had."""
    document = rng.choice(REPORTS)
    text = hostile(_embellished(document, rng), rng)
    try:
        found, code = json_reading.read_report(text)
    except ValueError:
        return "refused"
    for form in formats.REPORT_FORMATS:
        formats.render(found, form, code, DisplayOptions(verbose=True))
    return "accepted" if code >= document["exit_code"] else f"believed: {text}"


def merged(rng: random.Random, folder: Path) -> str:
    """The command itself, of two reports, as bytes on a disk."""
    paths = [folder / "1.json", folder / "2.json"]
    documents = [rng.choice(REPORTS) for _ in paths]
    for path, document in zip(paths, documents, strict=True):
        whole = rng.random() < 0.3  # two hostile ones are hardly ever read
        path.write_bytes(_bytes(json.dumps(document) if whole else hostile(_embellished(document, rng), rng), rng))
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = command(["merge", *map(str, paths)])
    if "internal error" in err.getvalue() or "Traceback" in err.getvalue() + out.getvalue():
        return f"crashed: {err.getvalue()}"
    if code == 2 and err.getvalue():
        return "refused"
    return "accepted" if code >= max(d["exit_code"] for d in documents) else "believed: a better exit code"


def configuration(rng: random.Random, folder: Path) -> str:
    """A configuration file, variables and options: settings, or an error that names the file or the variable."""
    (folder / ".git").mkdir(exist_ok=True)
    name = rng.choice(("pyproject.toml", "gradhook.toml"))
    for other in ("pyproject.toml", "gradhook.toml"):
        (folder / other).unlink(missing_ok=True)
    (folder / name).write_bytes(_bytes(toml(rng, name), rng))
    environ = {"GRADHOOK_RTOL": rng.choice(("", "1", "nan", "1e999", "x", "-1"))} if rng.random() < 0.1 else {}
    try:
        load(folder, {}, environ, Source())
    except GradhookError as error:
        return "refused" if any(word in error.message for word in (name, "GRADHOOK_")) else f"crashed: {error.message}"
    return "accepted"


def entry(rng: random.Random, folder: Path) -> str:
    """A file of the cache, spoilt or signed with garbage inside: a miss, or the very pass that was kept."""
    cache = cached(folder)
    path = rng.choice(cache.files)
    whole = path.read_bytes()
    try:
        if rng.random() < 0.3:
            path.write_bytes(_bytes(whole.decode(), rng, always=True))
        else:
            cache.sign(path, hostile(json.loads(whole.partition(b"\n")[2]), rng))
        held = recall(cache.passes, cache.jobs, [job.number for job in cache.jobs])
    finally:
        path.write_bytes(whole)
    if not held.reports:
        return "a miss"
    return "accepted" if all(report.verdict == "pass" for report in held.reports.values()) else "believed: no pass"


def _embellished(document: Any, rng: random.Random) -> Any:
    """A report in which somebody made one thing look better than it was, now and then."""
    if rng.random() < 0.6:
        return document
    better = copy.deepcopy(document)
    target = rng.choice(better["targets"])
    match rng.randrange(6):
        case 0:
            better["exit_code"] = rng.randrange(2)
        case 1:
            better["verdict"] = "pass"
        case 2:
            target["verdict"] = rng.choice(("pass", "skip", "undecided"))
        case 3:
            better["counts"] = {**better["counts"], "fail": 0, "error": 0}
        case 4:
            better["targets"].remove(target)
        case _:
            target["findings"], target["verdict"] = [], "pass"
    return better


def _bytes(text: str, rng: random.Random, always: bool = False) -> bytes:
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(rng.randint(1, 4) if data and (always or rng.random() < 0.3) else 0):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


KINDS: dict[str, Callable[[random.Random, Path], str]] = {
    "messages": message, "reports": report, "merge": merged, "configuration": configuration, "cache": entry,
}  # fmt: skip
