"""Which targets and notices follow from what was found in the files?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from gradhook.model.report import Notice
from gradhook.model.results import UNCLAIMED, ClaimKind, Target
from gradhook.scan.records import Bound, Found, Place, Use

_NOTHING = "nothing checks it; claim it, or annotate its arguments by jaxtyping"
_LITTLE = "what holds of every rule is checked, its derivative is not"


@dataclass(frozen=True)
class Configured:
    """The names ``pkg.mod:f`` that the configuration claims, and those that it gives inputs for without a claim."""

    claimed: Collection[str] = ()
    given: Collection[str] = ()


@dataclass(frozen=True)
class Abroad:
    """What other files know: which stored decorators some file applies, which imported functions some file claims."""

    applied: frozenset[Place]
    claimed: frozenset[str]


def abroad(founds: Iterable[Found]) -> Abroad:
    """What each of the files has to know of the others."""
    uses = [use for found in founds for use in found.uses]
    claimed = frozenset(use.means for use in uses if not use.mark.is_rule and use.means)
    return Abroad(frozenset(use.made for use in uses), claimed)


def targets(found: Found, others: Abroad, root: str) -> Iterator[Target]:
    """Every annotation of a file, those that no import delivers with the reason."""
    never_applied = [stored for stored in found.stored if stored.made not in others.applied]
    for use in (*found.uses, *never_applied):
        if not use.mark.is_rule:
            target = _target(use, found, _unreachable(use, found), root)
            yield from [replace(target, qualname=name, unreachable="") for name in _products(use, found)] or [target]


def _products(use: Use, found: Found) -> list[str]:
    """The names that the module gives to what a function of it returns, where that is what is annotated."""
    maker, inside, rest = use.at.prefix.partition(".<locals>.")
    own = use.qualname.removeprefix(use.at.prefix)
    is_returned = {(use.at.prefix, own), (use.at.prefix, use.line)} & found.returned
    if not inside or rest or use.lost or not is_returned:
        return []
    return [name for made_by, name in found.products if made_by == maker]


def askable(found: Found, others: Abroad, root: str, configured: Configured) -> Iterator[Target]:
    """The custom rules without a claim that can be reached, and whose annotations may say what they take."""
    for rule in _unclaimed(found, others, configured):
        named = _name(rule, found) in configured.given
        if not (named or _unreachable(rule, found)) and _shaped(rule, found):
            yield replace(_target(rule, found, "", root), source="rule", claim=ClaimKind.RULE)


def _shaped(rule: Use, found: Found) -> bool:
    return rule.subject in found.shaped or rule.qualname in found.shaped


def _name(rule: Use, found: Found) -> str:
    return f"{found.scope.module.name}:{rule.qualname}"


def _target(use: Use, found: Found, reason: str, root: str) -> Target:
    module = found.scope.module
    return Target(
        module=module.name,
        qualname=use.qualname,
        path=module.shown,
        line=use.line,
        mark=use.made.line,
        claim=ClaimKind.RULE if use.mark.is_rule else ClaimKind(use.mark.kind),
        root=root,
        source="decorator" if use.decorates else "call",
        unreachable=reason,
        mark_path="" if use.made.path == module.shown else use.made.path,
        lines=tuple(sorted(use.lines)),
        column=use.made.column,
    )


def notices(found: Found, others: Abroad, root: str, configured: Configured) -> Iterator[Notice]:
    """One for every custom rule without a claim; it tells what is checked of it, or what would make that possible."""
    asked = {(rule.line, rule.qualname) for rule in askable(found, others, root, configured)}
    for rule in _unclaimed(found, others, configured):
        known = (rule.line, rule.qualname) in asked or _name(rule, found) in configured.given
        lack = _LITTLE if known else _NOTHING
        message = f"custom rule `{rule.qualname}` (jax.{rule.mark.kind}) has no claim: {lack}"
        yield Notice(UNCLAIMED, found.scope.module.shown, rule.line, message, root, tuple(sorted(rule.lines)))


def _unclaimed(found: Found, others: Abroad, configured: Configured) -> Iterator[Use]:
    """Every custom rule of a file without a claim on it, in the file, by import in another one, or configured."""
    claims = [use for use in found.uses if not use.mark.is_rule]
    module = found.scope.module
    for rule in (use for use in found.uses if use.mark.is_rule):
        here = any(_claims(claim, rule) for claim in claims)
        elsewhere = f"{module.name}.{rule.qualname}" in others.claimed or _name(rule, found) in configured.claimed
        if not (here or elsewhere):
            yield rule


def _claims(claim: Use, rule: Use) -> bool:
    """Whether a claim is on the function of a custom rule: on the same function in either order, or by its name."""
    by_name = claim.subject == rule.qualname and not claim.decorates
    made_one = claim.qualname == rule.qualname and not rule.decorates  # f = jax.custom_jvp(f) under a decorated f
    return claim.at.group == rule.at.group or by_name or made_one


def _unreachable(use: Use, found: Found) -> str:
    if use.at.dead or use.lost:
        return use.at.dead or use.lost
    own = (use.at.own,) if use.at.own else ()
    return next(filter(None, (_rebound(name, found) for name in (*use.at.bounds, *own))), "")


def _rebound(own: Bound, found: Found) -> str:
    """How a name is certainly taken away from its function afterwards, wherever the function got it."""
    for later in found.rebound:
        same = later.scope is own.scope and later.name == own.name and later.order > own.order
        if same and not later.wraps and own.branch[: len(later.branch)] == later.branch:
            how = "deleted" if later.deleted else "bound again"
            return f"the name {own.name} is {how} on line {later.line}"
    return ""
