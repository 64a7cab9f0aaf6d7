"""GRD207: a surrogate is as declared left of, on and right of each jump and each bound."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gradhook.comparison.agreement import UNDERFLOW, differ
from gradhook.comparison.judge import SURROGATE
from gradhook.comparison.probe import Probe
from gradhook.comparison.surrogate_probe import Discontinuity, SurrogateProbe, Sweep, Triple
from gradhook.model.digits import number, pair
from gradhook.model.results import ClaimKind, Finding, Outcome, Rule, Verdict
from gradhook.model.trace import Staircase

RULE = Rule("GRD207", "surrogate-boundaries", "Is a surrogate as declared left of, on and right of each boundary?")
APPLIES = frozenset({ClaimKind.SURROGATE})
ROWS = 6
"""Boundaries that a note shows; the others are counted."""
SWEEPS = 6
"""The number of inputs with boundaries in a note."""
DRAWN = 128
"""Samples of a sweep that a picture of it gets, besides the boundaries."""
_SIDES = ("left of", "on", "right of")
_TIES = {"even": "half to even", "away": "half away from zero", "up": "half up, as floor(x + 0.5)", "down": "half down"}


def run(probe: Probe) -> Outcome:
    """Compare value and derivative with the declared ones at three neighbouring numbers of each boundary."""
    rule_probe = probe.rule_probe()
    sweeps = rule_probe.sweeps() if rule_probe else ()
    if rule_probe is None or not sweeps:
        reason = rule_probe.reason if rule_probe else ""
        return Outcome(RULE.code, Verdict.SKIP, probe.case, note=reason or "no input could be moved through its domain")
    distinct = _distinct(sweeps)
    texts = [t for sweep in distinct for b in sweep.discontinuities for t in _problems(b, rule_probe)]
    texts += [text for sweep in distinct for text in _wrong_ties(sweep, rule_probe)]
    findings = [_finding(group, probe) for group in _alike(texts)]
    table = "; ".join([*(line for sweep in distinct[:SWEEPS] for line in _table(sweep)), *_left_out(distinct)])
    note = f"left | on | right of each boundary: {table}" if table else "no boundary was found"
    verdict = Verdict.FAIL if findings else Verdict.PASS
    staircases = tuple(map(_staircase, (distinct or sweeps)[:SWEEPS])) if probe.plots() else ()
    return Outcome(RULE.code, verdict, probe.case, tuple(findings), note=note, staircases=staircases)


def _staircase(sweep: Sweep) -> Staircase:
    """Some of the samples, and all three places of each boundary, which make its riser upright."""
    at, value, slope = (part[:: 1 + len(part) // DRAWN] for part in sweep.samples)
    rows = list(zip(at, value, slope, strict=True))
    rows += [row for b in sweep.discontinuities for row in zip(b.at, b.value, b.slope, strict=True)]
    xs, values, slopes = zip(*sorted((float(x), float(v), float(s)) for x, v, s in rows), strict=True)
    return Staircase(sweep.input, sweep.output, xs, values, slopes)


def _distinct(sweeps: tuple[Sweep, ...]) -> list[Sweep]:
    """Sweeps with boundaries, one for each argument and set of boundaries: most elements are alike."""
    found: dict[tuple[object, ...], Sweep] = {}
    for sweep in sweeps:
        rows = tuple((b.at, repr(b.value), repr(b.slope), repr(b.declared)) for b in sweep.discontinuities)
        if rows:
            found.setdefault((sweep.leaf, sweep.ties, rows), sweep)
    return list(found.values())


def _left_out(sweeps: list[Sweep]) -> list[str]:
    names = ", ".join(dict.fromkeys(sweep.input for sweep in sweeps[SWEEPS:]))
    return [f"and boundaries along {names}"] if names else []


Problem = tuple[str, str, Discontinuity]
"""The text, the remedy, and where."""


def _problems(b: Discontinuity, rule_probe: SurrogateProbe) -> Iterator[Problem]:
    """Errors on one or two of the three places; errors on all of them are not the boundary's."""
    values = [side for side in range(3) if not _same_value(b.value[side], b.reference[side])]
    if 0 < len(values) < 3:
        side = values[0]
        text = ", forward= gives ".join(pair(b.value[side], b.reference[side]))
        yield (
            f"{_at(b, side)} the value of {b.output} is {text}",
            "look at how ties are rounded, and at < beside <= in both functions",
            b,
        )
    allowed = [_allowed(b, side, rule_probe.bounds) for side in range(3)]
    slopes = [s for s in range(3) if allowed[s] and not any(_same(b, s, one) for one in allowed[s])]
    if 0 < len(slopes) < 3:
        side = slopes[0]
        meant = " or ".join(dict.fromkeys(pair(b.slope[side], one)[1] for one in allowed[side]))
        text = f"the derivative of {b.output} is {pair(b.slope[side], allowed[side][0])[0]}, declared is {meant}"
        help = "a bound is closed (<=) in one of them and open (<) in the other; jnp.clip gives half on it"
        yield f"{_at(b, side)} {text}", help, b


def _same_value(got: float, wanted: float) -> bool:
    return math.isnan(wanted) or got == wanted  # the sign of a zero counts at the author's own points only


def _allowed(b: Discontinuity, side: int, bounds: str | None) -> tuple[float, ...]:
    """The derivatives allowed: the declared one; on a kink either side's, or as ``bounds`` selects."""
    if side != 1 or not (b.free or (bounds and b.saturates)):
        return () if math.isnan(b.declared[side]) else (b.declared[side],)
    left, on, right = b.slope if math.isnan(b.declared[1]) else b.declared
    inner, outer = (left, right) if abs(left) >= abs(right) else (right, left)
    if bounds is not None:
        return (inner,) if bounds == "closed" else (outer,)
    return (left, on, right)


def _same(b: Discontinuity, side: int, wanted: float) -> bool:
    """Up to rounding of the derivative there, which may be a small difference of large terms."""
    slope, allowed = np.asarray(b.slope[side]), b.rounding[side] + UNDERFLOW
    return not differ(slope, np.asarray(wanted), SURROGATE, allowed)


def _wrong_ties(sweep: Sweep, rule_probe: SurrogateProbe) -> Iterator[Problem]:
    jumps = [b for b in sweep.discontinuities if b.jumps]
    if rule_probe.ties and sweep.ties and sweep.ties != rule_probe.ties:
        text = f"along {sweep.input} ties are rounded {_TIES[sweep.ties]}, declared is {_TIES[rule_probe.ties]}"
        yield text, "jnp.round rounds half to even, lax.round away from zero by default, floor(x + 0.5) up", jumps[0]


def _at(b: Discontinuity, side: int) -> str:
    return f"{_SIDES[side]} {b.input} = {b.at[1]!r}"


def _alike(problems: list[Problem]) -> list[list[Problem]]:
    """Group problems with the same remedy."""
    groups: dict[str, list[Problem]] = {}
    for problem in problems:
        groups.setdefault(problem[1], []).append(problem)
    return list(groups.values())


def _finding(group: list[Problem], probe: Probe) -> Finding:
    text, help, b = min(group, key=lambda problem: abs(problem[2].at[1]))
    more = f", and so at {len(group) - 1} more" if len(group) > 1 else ""
    return Finding(
        RULE.code,
        Verdict.FAIL,
        f"{text} (left | on | right: {_row(b)}{more})",
        case=probe.case,
        leaf=b.input,
        output=b.output,
        help=help,
    )


def _table(sweep: Sweep) -> Iterator[str]:
    """The boundaries of a sweep as text: value and derivative left of, on and right of each."""
    if sweep.ties:
        yield f"along {sweep.input} ties are rounded {_TIES[sweep.ties]}"
    # The bounds of the derivative first, and of a staircase the steps next to zero.
    ranked = sorted(sweep.discontinuities, key=lambda b: (b.jumps, abs(b.at[1])))
    for b in sorted(ranked[:ROWS], key=lambda b: b.at[1]):
        yield f"{b.input} = {number(b.at[1])}: {_row(b)}"
    if len(ranked) > ROWS:
        yield f"and {len(ranked) - ROWS} more along {sweep.input}"


def _row(b: Discontinuity) -> str:
    closed = {True: ", closed", False: ", open", None: ""}[b.closed] if b.saturates else ""
    return f"value {_triple(b.value)}, derivative {_triple(b.slope)}{closed}"


def _triple(of: Triple) -> str:
    return " | ".join(f"{value:.4g}" for value in of)
