"""Derive targets and notices from scanned modules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from gradhook.model.report import Notice
from gradhook.model.results import UNCLAIMED, ClaimKind, Target
from gradhook.scan.records import Binding, CallSite, DecoratorUse, ModuleScan

_NOTHING = "nothing checks it; claim it, or annotate its arguments by jaxtyping"
_LITTLE = "what holds of every rule is checked, its derivative is not"


@dataclass(frozen=True)
class ConfiguredNames:
    """Names ``pkg.mod:f`` that the configuration claims, and those it only gives inputs for."""

    claimed: Collection[str] = ()
    given: Collection[str] = ()


@dataclass(frozen=True)
class OtherFiles:
    """Stored decorators that some file applies, and imported functions that some file claims."""

    applied: frozenset[CallSite]
    claimed: frozenset[str]


def other_files(scans: Iterable[ModuleScan]) -> OtherFiles:
    """The facts about all files that each of them needs."""
    uses = [use for found in scans for use in found.uses]
    claimed = frozenset(use.imported_name for use in uses if not use.decorator.is_rule and use.imported_name)
    return OtherFiles(frozenset(use.site for use in uses), claimed)


def targets(found: ModuleScan, others: OtherFiles, root: str) -> Iterator[Target]:
    """Every annotation of a file; those that no import delivers with the reason."""
    never_applied = [stored for stored in found.stored if stored.site not in others.applied]
    for use in (*found.uses, *never_applied):
        if not use.decorator.is_rule:
            target = _target(use, found, _unreachable(use, found), root)
            yield from [replace(target, qualname=name, unreachable="") for name in _factory_results(use, found)] or [
                target
            ]


def _factory_results(use: DecoratorUse, found: ModuleScan) -> list[str]:
    """Names that the module gives to the annotated function that one of its functions returns."""
    maker, inside, rest = use.context.prefix.partition(".<locals>.")
    name = use.qualname.removeprefix(use.context.prefix)
    is_returned = {(use.context.prefix, name), (use.context.prefix, use.line)} & found.returned
    if not inside or rest or use.unapplied or not is_returned:
        return []
    return [name for made_by, name in found.factory_calls if made_by == maker]


def checkable_rules(found: ModuleScan, others: OtherFiles, root: str, configured: ConfiguredNames) -> Iterator[Target]:
    """The reachable custom rules without a claim whose annotations may give their inputs."""
    for rule in _unclaimed(found, others, configured):
        named = _name(rule, found) in configured.given
        if not (named or _unreachable(rule, found)) and _shaped(rule, found):
            yield replace(_target(rule, found, "", root), source="rule", claim=ClaimKind.RULE)


def _shaped(rule: DecoratorUse, found: ModuleScan) -> bool:
    return rule.subject in found.shaped or rule.qualname in found.shaped


def _name(rule: DecoratorUse, found: ModuleScan) -> str:
    return f"{found.scope.module.name}:{rule.qualname}"


def _target(use: DecoratorUse, found: ModuleScan, reason: str, root: str) -> Target:
    module = found.scope.module
    return Target(
        module=module.name,
        qualname=use.qualname,
        path=module.shown,
        line=use.line,
        mark=use.site.line,
        claim=ClaimKind.RULE if use.decorator.is_rule else ClaimKind(use.decorator.kind),
        root=root,
        source="decorator" if use.decorates else "call",
        unreachable=reason,
        mark_path="" if use.site.path == module.shown else use.site.path,
        lines=tuple(sorted(use.lines)),
        column=use.site.column,
    )


def notices(found: ModuleScan, others: OtherFiles, root: str, configured: ConfiguredNames) -> Iterator[Notice]:
    """One notice for every custom rule without a claim, with what is checked of it."""
    asked = {(rule.line, rule.qualname) for rule in checkable_rules(found, others, root, configured)}
    for rule in _unclaimed(found, others, configured):
        known = (rule.line, rule.qualname) in asked or _name(rule, found) in configured.given
        lack = _LITTLE if known else _NOTHING
        message = f"custom rule `{rule.qualname}` (jax.{rule.decorator.kind}) has no claim: {lack}"
        yield Notice(UNCLAIMED, found.scope.module.shown, rule.line, message, root, tuple(sorted(rule.lines)))


def _unclaimed(found: ModuleScan, others: OtherFiles, configured: ConfiguredNames) -> Iterator[DecoratorUse]:
    """The custom rules that are claimed neither in the file, nor in another one, nor configured."""
    claims = [use for use in found.uses if not use.decorator.is_rule]
    module = found.scope.module
    for rule in (use for use in found.uses if use.decorator.is_rule):
        here = any(_claims(claim, rule) for claim in claims)
        elsewhere = f"{module.name}.{rule.qualname}" in others.claimed or _name(rule, found) in configured.claimed
        if not (here or elsewhere):
            yield rule


def _claims(claim: DecoratorUse, rule: DecoratorUse) -> bool:
    """Whether a claim is about a custom rule: on the same function in either order, or by its name."""
    by_name = claim.subject == rule.qualname and not claim.decorates
    made_one = claim.qualname == rule.qualname and not rule.decorates  # f = jax.custom_jvp(f) under a decorated f
    return claim.context.group == rule.context.group or by_name or made_one


def _unreachable(use: DecoratorUse, found: ModuleScan) -> str:
    if use.context.dead or use.unapplied:
        return use.context.dead or use.unapplied
    binding = (use.context.binding,) if use.context.binding else ()
    return next(filter(None, (_rebound(name, found) for name in (*use.context.class_bindings, *binding))), "")


def _rebound(binding: Binding, found: ModuleScan) -> str:
    """The statement that takes a name away from its function later; empty if none surely does."""
    for later in found.rebound:
        same = later.scope is binding.scope and later.name == binding.name and later.order > binding.order
        if same and not later.wraps and binding.branch[: len(later.branch)] == later.branch:
            how = "deleted" if later.deleted else "bound again"
            return f"the name {binding.name} is {how} on line {later.line}"
    return ""
