"""The command ``gradhook rule``."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import click

from gradhook.cli import formats, options
from gradhook.cli.completion import complete_codes
from gradhook.cli.exit_codes import CLEAN
from gradhook.cli.output import deliver
from gradhook.model.errors import GradhookError
from gradhook.model.rule_docs import RulePage, codes, pages


@click.command()
@click.argument("wanted", nargs=-1, metavar="[CODE]...", shell_complete=complete_codes)
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option(
    "--output-format", "form", type=click.Choice(["terminal", "markdown", "json"]), default="terminal",
    help="How the pages are written.",
)  # fmt: skip
@options.color
def rule(wanted: tuple[str, ...], everything: bool, form: str, color: str) -> int:
    """Explain a CODE: what it means, the usual causes, how to mend it, and an example.

    GRD4 stands for all codes that begin with it.
    """
    from gradhook.reporters import rule_pages  # which no other command needs

    if everything == bool(wanted):
        raise click.UsageError("name one code or more, or --all")
    chosen = pages(codes()) if everything else _select_pages(wanted)
    match form:
        case "json":
            text = rule_pages.as_json(chosen)
        case "markdown":
            text = rule_pages.as_markdown(chosen)
        case _:
            text = rule_pages.as_text(chosen, formats.display_options(color))
    deliver(text, None)
    return CLEAN


def _select_pages(wanted: Sequence[str]) -> tuple[RulePage, ...]:
    """The pages in the order of the codes.

    Raises:
        GradhookError: a word is the beginning of no code.
    """
    for word in wanted:
        if not pages([word]):
            near = difflib.get_close_matches(word.upper(), codes(), 1)
            help = f"did you mean {near[0]}?" if near else "`gradhook rule --all` shows them all"
            raise GradhookError(f"there is no rule {word!r}", help)
    return pages(wanted)
