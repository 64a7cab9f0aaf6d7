"""Commands for GitHub's runner, and foreign text that cannot contain any.

The runner reads commands from lines that begin with ``::`` after blanks, and from ``##[`` anywhere in a line
(``ActionCommand.cs`` of actions/runner); its problem matchers read every line, also while commands are stopped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

LONGEST_MESSAGE = 4096
"""UTF-16 units that the runner keeps of a message (``ExecutionContext.cs``)."""

_TRACEBACK = re.compile(r'^(?=\s*File\s")', re.MULTILINE)  # the first pattern of the matcher that setup-python adds


def command(name: str, properties: Mapping[str, str | int | None], message: str) -> str:
    """``::error file=a.py,line=3::message``, escaped; properties without a value are left out."""
    shown = [f"{key}={_escape_property(str(value))}" for key, value in properties.items() if value not in (None, "")]
    return f"::{name}{' ' * bool(shown)}{','.join(shown)}::{_escape_message(truncate_message(message))}"


def stop_commands(text: str, token: str) -> str:
    """Foreign text between lines that stop and resume commands; ``token`` must be unguessable."""
    body = _TRACEBACK.sub("| ", _encodable(text))
    newline = "" if not body or body.endswith("\n") else "\n"
    return f"::stop-commands::{token}\n{body}{newline}::{token}::\n"


def outputs(values: Mapping[str, str], delimiters: Mapping[str, str]) -> str:
    """Lines for the file ``GITHUB_OUTPUT``; each value has its own unguessable delimiter.

    Raises:
        ValueError: a value contains its delimiter.
    """
    text = ""
    for name, value in values.items():
        delimiter = delimiters[name]
        if delimiter in value:
            raise ValueError(f"the value of {name} contains its delimiter")
        text += f"{name}<<{delimiter}\n{value}\n{delimiter}\n"
    return text


def truncate_message(message: str) -> str:
    """A message that the runner will not cut, with a sign where we did."""
    units = message.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * LONGEST_MESSAGE:
        return message
    return units[: 2 * (LONGEST_MESSAGE - 1)].decode("utf-16-le", "ignore") + "…"


def _escape_message(text: str) -> str:
    return _encodable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_message(text).replace(":", "%3A").replace(",", "%2C")


def _encodable(text: str) -> str:
    """The text without the half characters that stand for bytes which are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
