"""What ``gradhook`` and ``python -m gradhook`` do: at once what needs nothing to be loaded, else the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gradhook.cli.idle import idle


def main(arguments: Sequence[str] | None = None) -> None:
    """The console entry: run a command and exit."""
    if said := idle(sys.argv[1:] if arguments is None else arguments):
        print(said)  # noqa: T201
        sys.exit(0)
    from gradhook.cli.main import main as command

    command(arguments)


if __name__ == "__main__":
    main()
