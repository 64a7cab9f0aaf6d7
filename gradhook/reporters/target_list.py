"""How does the list of what would be checked look?"""

from __future__ import annotations

import json
from collections.abc import Sequence

from gradhook.model.report import Notice
from gradhook.model.results import Target
from gradhook.reporters.formatting import clean, flat

SCHEMA = 1


def as_table(targets: Sequence[Target], notices: Sequence[Notice], files: int) -> str:
    """A row each with aligned columns, then the notices, then how many there are."""
    rows = [(clean(t.name), _place(t), t.claim.value, t.source, _reach(t)) for t in targets]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in rows]
    if notices:
        lines += [""] * bool(lines) + [_notice(notice) for notice in notices]
    lines += [""] * bool(lines) + [f"{_many(len(targets), 'target')} in {_many(files, 'file')}"]
    return "".join(f"{line}\n" for line in lines)


def as_lines(targets: Sequence[Target], notices: Sequence[Notice]) -> str:
    """``path:line: name claim source``, a line each."""
    rows = [f"{_place(t)}: {clean(t.name)} {t.claim.value} {t.source} {_reach(t)}".rstrip() for t in targets]
    return "".join(f"{line}\n" for line in [*rows, *map(_notice, notices)])


def as_json(targets: Sequence[Target], notices: Sequence[Notice], files: int) -> str:
    """One object with targets, notices and the number of files; ``unreachable`` is null for what can be reached."""
    document = {
        "schema": SCHEMA,
        "files": files,
        "targets": [
            {"target": t.name, "path": t.path, "line": t.line, "claim": t.claim.value, "source": t.source}
            | {"unreachable": t.unreachable or None}
            for t in targets
        ],
        "notices": [{"code": n.code, "path": n.path, "line": n.line, "message": n.message} for n in notices],
    }
    return json.dumps(document, indent=2) + "\n"


def _place(target: Target) -> str:
    return clean(f"{target.path}:{target.line}")


def _reach(target: Target) -> str:
    return f"GRD502 cannot be reached: {flat(target.unreachable)}" if target.unreachable else ""


def _notice(notice: Notice) -> str:
    return f"{clean(notice.path)}:{notice.line}: {notice.code} {flat(notice.message)}"


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'s' * (count != 1)}"
