"""The error that ends a command, exceptions in words, and the folders that hold no code of the user's."""

from __future__ import annotations

INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders of installed packages: a place in one of them is not in the user's own code."""
LONGEST = 8000
"""Characters of an exception's own message that are kept; the rest of a longer one is counted."""


class GradhookError(Exception):
    """A mistake in usage, configuration or surroundings, with a message and a remedy.

    The command line prints both and exits with 2; a traceback of ours never reaches the user.
    """

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def in_words(error: BaseException) -> str:
    """``Type: the whole message`` on one line; of exceptions that cannot even be printed, the type."""
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = ""
    return f"{type(error).__name__}: {shortened(text, LONGEST)}" if text else type(error).__name__


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters, cut after a whole word, with the number of missing ones."""
    if len(text) <= most:
        return text
    kept = text[:most].rsplit(maxsplit=1)[0] if text[:most].strip() else text[:most]
    kept = kept if len(kept) > most // 2 else text[:most]  # one long word
    return f"{kept} … ({len(text) - len(kept)} more characters)"
