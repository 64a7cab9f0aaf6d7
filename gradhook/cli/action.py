"""``gradhook action``: the command that action.yml runs."""

from __future__ import annotations

import click


@click.command(hidden=True)
def action() -> int:
    """Run as the step of a workflow; `gradhook.cli.step` says what it reads and writes."""
    from gradhook.cli.step import run_step  # ten modules that no other command needs

    return run_step()
