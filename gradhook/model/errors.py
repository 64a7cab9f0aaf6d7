"""What went wrong, and what can the user do about it?"""

from __future__ import annotations


class GradhookError(Exception):
    """A mistake in usage, configuration or surroundings: one line that says what, one that says the remedy.

    The command line prints both and exits with 2; a traceback of ours never reaches the user.
    """

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help
