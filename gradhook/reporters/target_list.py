"""The list of targets, as a table, as lines and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gradhook.model.report import Notice
from gradhook.model.results import Target
from gradhook.reporters.formatting import clean, one_line

SCHEMA = 1


def as_table(targets: Sequence[Target], notices: Sequence[Notice], files: int) -> str:
    """A row each with aligned columns, then the notices, then how many there are."""
    rows = [(clean(t.name), _place(t), t.claim.value, t.source, _unreachable_note(t)) for t in targets]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in rows]
    blocks = [lines, [_notice(notice) for notice in notices]]
    blocks.append([f"{_count(len(targets), 'target')} in {_count(files, 'file')}"])
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)


def as_lines(targets: Sequence[Target], notices: Sequence[Notice]) -> str:
    """``path:line: name claim source``, a line each."""
    rows = [f"{_place(t)}: {clean(t.name)} {t.claim.value} {t.source} {_unreachable_note(t)}".rstrip() for t in targets]
    return "".join(f"{line}\n" for line in [*rows, *map(_notice, notices)])


def as_json(targets: Sequence[Target], notices: Sequence[Notice], files: int) -> str:
    """One object with targets, notices and the number of files; ``unreachable`` is null without a reason."""
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


def _unreachable_note(target: Target) -> str:
    return f"GRD502 cannot be reached: {one_line(target.unreachable)}" if target.unreachable else ""


def _notice(notice: Notice) -> str:
    return f"{clean(notice.path)}:{notice.line}: {notice.code} {one_line(notice.message)}"


def _count(count: int, thing: str) -> str:
    return f"{count} {thing}{'s' * (count != 1)}"
