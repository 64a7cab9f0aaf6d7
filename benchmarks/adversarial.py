"""Targets whose right verdict was worked out beforehand, judged by the product; every false verdict is printed.

    python benchmarks/adversarial.py [MODULE ...] [-k PATTERN] [-j N]

The modules are those of ``benchmarks/adversarial``. The beginning of a name is the right answer: ``f_`` fail, ``fu_``
fail or undecided, ``p_`` pass, ``pu_`` pass or undecided, ``u_`` undecided. PATTERN is a regular expression that is
looked for in ``module:name``. The exit status is 1 when a wrong derivative passed, a right one failed or a target
broke, and 2 when nothing is chosen.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradhook.execution import session
from gradhook.model.results import Target, TargetReport, Verdict

FOLDER = Path(__file__).with_suffix("")
HELPERS = {"sabotage"}
PASS, FAIL, UNDECIDED = Verdict.PASS, Verdict.FAIL, Verdict.UNDECIDED
ALLOWED = {
    "f": {FAIL},
    "fu": {FAIL, UNDECIDED},
    "p": {PASS},
    "pu": {PASS, UNDECIDED},
    "u": {UNDECIDED},
}
GRAVE = ("false pass", "false failure", "error")
SLOWEST = 10


@dataclass(frozen=True)
class Answer:
    """One target: what it must be, what it was called, by which codes, and how long that took."""

    name: str
    verdict: Verdict
    codes: tuple[str, ...]
    message: str
    seconds: float

    @property
    def module(self) -> str:
        """The module of the target."""
        return self.name.partition(":")[0]

    @property
    def kind(self) -> str:
        """The beginning of the name, which says what is right."""
        return self.name.partition(":")[2].partition("_")[0]

    @property
    def grade(self) -> str:
        """``as named``, or what is wrong with the verdict."""
        if self.verdict in ALLOWED[self.kind]:
            return "as named"
        words = {PASS: "false pass", FAIL: "false failure", UNDECIDED: "needless undecided"}
        return words.get(self.verdict, "error")


def names_a_truth(target: Target) -> bool:
    """Whether the name says what is right."""
    return target.name.partition(":")[2].partition("_")[0] in ALLOWED


def answers(files: Sequence[Path], wanted: Callable[[str], object], jobs: int = 2) -> list[Answer]:
    """The product's verdicts about the targets of ``files`` whose names are wanted."""
    found = session.find(files, {"jobs": jobs, "cache": False})
    chosen = [p.only(lambda target: names_a_truth(target) and bool(wanted(target.name))) for p in found]
    return [_answer(report) for report in session.check(chosen).targets]


def _answer(report: TargetReport) -> Answer:
    codes = tuple(sorted({f.code for f in report.findings}))
    told = report.findings[0].message if report.findings else ""
    return Answer(report.target.name, report.verdict, codes, told, report.seconds.wall)


def modules(names: Sequence[str]) -> list[Path]:
    """The files of these modules; of all, when none is named."""
    every = sorted(file for file in FOLDER.glob("*.py") if file.stem not in HELPERS)
    return [FOLDER / f"{Path(name).stem}.py" for name in names] or every


def table(found: Sequence[Answer]) -> list[str]:
    """A line for each module: how many targets, and how many of each grade; then the time they took."""
    columns = ("as named", *GRAVE, "needless undecided")
    lines = [f"{'module':20} {'targets':>7} " + " ".join(f"{c:>{max(len(c), 5)}}" for c in columns) + f" {'s':>7}"]
    for module in [*dict.fromkeys(a.module for a in found), "all"]:
        mine = [a for a in found if module in (a.module, "all")]
        count = Counter(a.grade for a in mine)
        cells = " ".join(f"{count[c]:>{max(len(c), 5)}}" for c in columns)
        lines.append(f"{module:20} {len(mine):7} {cells} {sum(a.seconds for a in mine):7.1f}")
    return lines


def complaints(found: Sequence[Answer]) -> list[str]:
    """Every verdict that is not as named, gravest first."""
    lines = []
    for grade in (*GRAVE, "needless undecided"):
        mine = [a for a in found if a.grade == grade]
        lines.append(f"\n{grade}: {len(mine)}")
        lines += [f"  {a.name}  {','.join(a.codes)} {a.message[:150]}" for a in mine]
    return lines


def causes(found: Sequence[Answer]) -> list[str]:
    """How often each code was the cause of an undecided answer, needless or not."""
    lines = [f"\n{'undecided by cause':20} {'right':>6} {'needless':>9}"]
    undecided = [a for a in found if a.verdict is UNDECIDED]
    for code in sorted({",".join(a.codes) for a in undecided}):
        mine = Counter(a.grade for a in undecided if ",".join(a.codes) == code)
        lines.append(f"{code:20} {mine['as named']:6} {mine['needless undecided']:9}")
    return lines


def slowest(found: Sequence[Answer]) -> list[str]:
    """The targets that took longest."""
    longest = sorted(found, key=lambda a: -a.seconds)[:SLOWEST]
    return ["\nslowest", *(f"  {a.seconds:6.1f} s  {a.name}" for a in longest)]


def main(arguments: Sequence[str]) -> int:
    """Print the tables; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    parser.add_argument("-k", dest="pattern", default="", metavar="PATTERN")
    parser.add_argument("-j", dest="jobs", type=int, default=2, metavar="N")
    asked = parser.parse_args(arguments)
    found = answers(modules(asked.modules), re.compile(asked.pattern).search, asked.jobs)
    if not found:
        print("no target is chosen")
        return 2
    print("\n".join([*table(found), *complaints(found), *causes(found), *slowest(found)]))
    return int(any(a.grade in GRAVE for a in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
