"""Results of the scan and of the mutants as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from catalogue.records import Entry
from mutating import ERROR, Fate
from scanning import Answer

from gradhook.model.results import RTOL, Verdict

WANTED_CAUGHT = 0.999
ALARMS = ("FALSE ALARM", "UNPROVEN")


def scan(results: list[tuple[Entry, list[Answer]]]) -> bool:
    """Wrong derivatives with their proofs, what is not as wanted, and the sums; whether all is well."""
    answers = [a for _, found in results for a in found if a.rtol == RTOL]
    _section("Wrong derivatives in this JAX, each proven", [_flaw(a) for a in answers if _is_flaw(a)])
    _section("Not as wanted", [_complaint(a) for a in answers if a.grade != "ok"])
    return _summary(results, answers)


def heading() -> str:
    """The names of a line's columns."""
    return f"{'function':34} {'points':>6} {'answers':>7} {'pass':>5} {'fail':>5} {'undecided':26} as wanted"


def line(entry: Entry, found: list[Answer]) -> str:
    """What the scan says about one function."""
    answers = [a for a in found if a.rtol == RTOL]
    count = Counter(a.verdict for a in answers)
    codes = Counter(code for a in answers if a.verdict is Verdict.UNDECIDED for code in a.codes.split(",") if code)
    undecided = " ".join(f"{code}:{n}" for code, n in sorted(codes.items()))
    bad = Counter(a.grade for a in answers if a.grade != "ok")
    wanted = ", ".join(f"{n} {grade}" for grade, n in bad.items()) or "yes"
    return (
        f"{entry.name[:34]:34} {len(entry.points):6} {len(answers):7} {count[Verdict.PASS]:5} {count[Verdict.FAIL]:5} "
        f"{undecided[:26]:26} {wanted}"
    )


def _is_flaw(answer: Answer) -> bool:
    return answer.verdict is Verdict.FAIL and answer.grade == "ok"


def _flaw(answer: Answer) -> str:
    proof = answer.proof.example if answer.proof else ""
    why = answer.mark.why if answer.mark else ""
    return f"{answer.name} at {answer.point}, order {answer.order}: {why or proof}" + (
        f"; {proof}" if why and proof else ""
    )


def _complaint(answer: Answer) -> str:
    told = answer.findings[0].message if answer.findings else ""
    proof = f" [{answer.proof.example}]" if answer.proof and answer.proof.example else ""
    place = f"{answer.name} at {answer.point}, order {answer.order}"
    return f"{answer.grade}: {place}: {answer.verdict} {answer.codes} {told[:200]}{proof}"


def _section(title: str, lines: list[str]) -> None:
    print(f"\n{title}: {len(lines)}")
    for line in lines:
        print(f"  {line}")


def _summary(results: list[tuple[Entry, list[Answer]]], answers: list[Answer]) -> bool:
    grades = Counter(a.grade for a in answers)
    proofs = [a.proof for a in answers if a.proof]
    measured, outside = sum(p.measured for p in proofs), sum(p.outside for p in proofs)
    print(f"\n{len(results)} functions, {sum(len(e.points) for e, _ in results)} points, {len(answers)} answers, "
          f"{len(proofs)} of them compared with mpmath")  # fmt: skip
    print(f"error bars: {measured} measured elements, {outside} of them off by more than the bar")
    print(f"right derivatives called fail: {sum(grades[g] for g in ALARMS)}")
    print(f"right formulas called fail that have lost digits by cancellation: {grades['inaccurate']}")
    passed, weak, silent = grades["MISS"], grades["WEAK"], grades["NOT ASKED"]
    print(f"wrong derivatives passed: {passed}; left undecided: {weak}; not asked: {silent}")
    print(f"unexplained undecided: {grades['UNEXPLAINED']}; of another cause than marked: {grades['OTHER CAUSE']}")
    return not any(grades[g] for g in (*ALARMS, "MISS", "ERROR"))


def tolerances(answers: list[Answer]) -> None:
    """How many right derivatives each tolerance would have failed."""
    print(f"\n{'rtol':>8} {'false':>6} {'inaccurate':>10} {'undecided':>9} {'pass':>6}")
    for rtol in sorted({a.rtol for a in answers}, reverse=True):
        mine = [a for a in answers if a.rtol == rtol]
        grades, verdicts = Counter(a.grade for a in mine), Counter(a.verdict for a in mine)
        false, unsure, passed = sum(grades[g] for g in ALARMS), verdicts[Verdict.UNDECIDED], verdicts[Verdict.PASS]
        print(f"{rtol:8.0e} {false:6} {grades['inaccurate']:10} {unsure:9} {passed:6}")
    alarms = [a for a in answers if a.grade in (*ALARMS, "inaccurate") and a.rtol < RTOL]
    _section("Failed with a tighter tolerance", sorted({f"{a.rtol:.0e} {_complaint(a)}" for a in alarms}))


def mutants(fates: list[Fate]) -> bool:
    """What became of derivatives that are off by a millionth, by kind; whether enough were caught and none missed."""
    kinds = sorted({f.kind for f in fates})
    columns = ("caught", "undecided", "within", "missed")
    print(f"\n{'mutants, relative error ' + format(ERROR, '.0e'):34} " + " ".join(f"{c:>10}" for c in columns))
    for kind in [*kinds, "all"]:
        count = Counter(f.fate for f in _of(fates, kind))
        print(f"{kind:34} " + " ".join(f"{count[c]:10}" for c in columns))
    lost = [f for f in fates if f.fate != "caught"]
    _section(
        "Not caught (within: a pass whose stated resolution is coarser than the error)",
        [f"{f.fate}: {f.name} at {f.point}, {f.kind}; effect {f.effect:.0e}" for f in lost],
    )
    caught = sum(f.fate == "caught" for f in fates) / max(1, len(fates))
    print(f"\ncaught: {caught:.2%} of {len(fates)}; passed unseen: {sum(f.fate == 'missed' for f in fates)}")
    return caught >= WANTED_CAUGHT and all(f.fate != "missed" for f in fates)


def _of(fates: Iterable[Fate], kind: str) -> list[Fate]:
    return [f for f in fates if kind in ("all", f.kind)]
