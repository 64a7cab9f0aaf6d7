"""The entry point: the commands, and exit codes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from gradhook import __version__
from gradhook.cli import exit_codes
from gradhook.cli.check import check
from gradhook.cli.completion import completion
from gradhook.cli.env import env
from gradhook.cli.exit_codes import COULD_NOT_RUN
from gradhook.cli.explain import explain
from gradhook.cli.init import init
from gradhook.cli.list import list_targets
from gradhook.cli.merge import merge
from gradhook.cli.migrate import migrate
from gradhook.cli.rule import rule
from gradhook.model.errors import GradhookError
from gradhook.reporters.formatting import clean


@click.command(hidden=True)
def action() -> int:
    """Run as the step of a workflow; `gradhook.cli.step` says what it reads and writes."""
    from gradhook.cli.step import run_step  # ten modules that no other command needs

    return run_step()


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(__version__, prog_name="gradhook", message="%(prog)s %(version)s")
def cli() -> None:
    """Check the derivatives of annotated JAX functions.

    Exit codes: 0 nothing to report, 1 findings, 2 could not run or wrong usage, 130 interrupted (143 by SIGTERM).
    """


for command in (check, list_targets, env, merge, init, migrate, rule, explain, completion, action):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit. SIGTERM is an interrupt, too: workers end with us."""
    exit_codes.install_signal_handlers()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name that the terminal cannot show must not end the run
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code. click's own codes (1 for an abort or a usage error) are not ours."""
    try:
        code = cli.main(None if arguments is None else [*arguments], prog_name="gradhook", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        _print("gradhook: interrupted")
        return exit_codes.code()
    except click.ClickException as error:
        error.show()
    except GradhookError as error:
        _print_error(error)
    except Exception as error:
        _print_internal_error(error)
    else:
        return code if isinstance(code, int) else 0
    return COULD_NOT_RUN


def _print_error(error: GradhookError) -> None:
    """The message, in which an indented line goes on with the one before, and the remedy."""
    for line in error.message.splitlines():
        _print(line if line.startswith(" ") else f"gradhook: {line}")
    if error.help:
        _print(f"  help: {error.help}")


def _print_internal_error(error: Exception) -> None:
    """Print one line about an internal error, and its traceback with GRADHOOK_DEBUG=1."""
    if os.environ.get("GRADHOOK_DEBUG") == "1":
        import traceback  # 7 ms, seldom needed

        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    _print(f"gradhook: internal error ({what}); please report it with the traceback that GRADHOOK_DEBUG=1 shows")


def _print(line: str) -> None:
    click.echo(clean(line), err=True)
