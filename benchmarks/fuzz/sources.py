"""How does real Python become hostile? Pieces of real files, with annotations put in, then broken in many ways."""

from __future__ import annotations

import random
import re
import sysconfig
from functools import lru_cache
from pathlib import Path

HERE = Path(__file__).parents[2]
LONGEST = 90
"""Lines of a piece, mostly."""
WHOLE = 0.01
"""Share of inputs that are whole files."""

IMPORTS = (
    "import gradhook as fz_module",
    "import gradhook",
    "import gradhook.annotations as fz_inner",
    "from gradhook import gradcheck as fz_check, surrogate as fz_stand_in",
    "from gradhook.annotations import gradcheck",
)
_NAMES = ("fz_module.gradcheck", "gradhook.surrogate", "fz_inner.gradcheck", "fz_check", "fz_stand_in", "gradcheck")
_DECORATORS = (
    "@{a}",
    "@{a}(args=(1.0,))",
    "@{a}(\n{i}    args=(1.0,),\n{i})",
    "@( {a}\n{i}  (args=()) )",
    "@{a}(**{{}})",
)
_STATEMENTS = (
    "{a}(args=())(print)",
    "x = {a}(args=())(lambda y: y)",
    "x = [{a}(args=())(f) for f in g]",
    "x, *y = {a}(args=())(f), {a}(f), 2",
    "if (z := {a}(args=())(f)): pass",
    "stored = {a}(args=(0.5,))",
    "return {a}(args=())(f)",
    "yield {a}(args=())(f)",
    "assert {a}(args=())(f), {a}(g)",
    "with {a}(args=())(f) as t, {a}(g) as u: pass",
    "x: {a}(args=())(f) = {a}(g)",
    "def h(p=1, *, q={a}(args=())(f)) -> {a}(g): pass",
    "def h(p: {a}(args=())(f)): pass",
    "lambda p={a}(args=())(f): {a}(g)",
    "class C({a}(args=())(f), metaclass={a}(g)): pass",
    "try: {a}(f)\n{i}except {a}(g): pass",
    "match {a}(f):\n{i}  case C(x={a}.y) if {a}(g): pass",
    "x[{a}(f)].y = {a}(g)",
    "x.y[{a}(f):{a}(g)] += 1",
    "for x[{a}(f)] in {a}(g): pass",
    "del x[{a}(f)]",
    "f'{{ {a}(f) !r:>{{ {a}(g) }} }}'",
    "raise {a}(f) from {a}(g)",
    "print({a}(f), *{a}(g), k={a}(h), **{a}(j))",
    "global fz_other; {a}(f); {a}(g)",
    "async def h():\n{i}    async for k in {a}(f): await {a}(g)",
    "x = {a}(args=())({a}(args=())(f)) if {a}(g) else {{{a}(h): {a}(j)}}",
    "gradhook: ignore = {a}(f)  # gradhook: ignore[GRD502]",
)
_CODINGS = (
    "utf-8",
    "latin-1",
    "cp1252",
    "utf-16",
    "utf-7",
    "euc-jp",
    "rot13",
    "nonsense",
    "utf-8-sig",
    "ascii",
    "koi8-r",
)
_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
_PIECES = (
    *"()[]{}:;,@\\'#=",
    '"""', ":=", "*", "**", "->", "...", "lambda", "async", "await", "yield", "def f():", "class", "if",
    "else", "match", "case _:", "import", "as", "global x", "\n", "\t", "\f", "\r", "\x00", "\ufeff", "é", "\u2028",
    "\u202e", "0x", "1e999", "1_", "f'{", "}'", "del", "with",
)  # fmt: skip


@lru_cache(maxsize=1)
def files() -> tuple[Path, ...]:
    """The standard library, what is installed, the examples."""
    places = {Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib")), HERE / "examples"}
    found = sorted({path for place in places for path in place.rglob("*.py") if path.stat().st_size < 400_000})
    return tuple(found)


@lru_cache(maxsize=400)
def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


def hostile(rng: random.Random) -> bytes:
    """One input: a piece, mostly with annotations, mostly broken."""
    lines = _piece(rng)
    if rng.random() < 0.95:
        for _ in range(rng.randint(1, 4)):
            _annotate(lines, rng)
        lines[:0] = [] if rng.random() < 0.03 else IMPORTS
    text = "\n".join(lines)
    for _ in range(rng.choice((0, 0, 1, 1, 1, 2, 3))):
        text = rng.choice(_GENTLE if rng.random() < 0.6 else _ROUGH)(text, rng)
    return _encoded(text, rng)


def _piece(rng: random.Random) -> list[str]:
    lines = _text(rng.choice(files())).splitlines()
    if rng.random() < WHOLE:
        return lines
    starts = [n for n, line in enumerate(lines) if line[:1].strip() and line[0] not in ")]}#'\""] or [0]
    start = rng.choice(starts)
    ends = [n for n in starts if start < n <= start + LONGEST] or [min(start + LONGEST, len(lines))]
    return lines[start : ends[-1]]


def _annotate(lines: list[str], rng: random.Random) -> None:
    functions = [n for n, line in enumerate(lines) if re.match(r"\s*(async def|def|class)\s", line)]
    name = rng.choice(_NAMES)
    if functions and rng.random() < 0.5:
        at, form = rng.choice(functions), rng.choice(_DECORATORS)
    else:
        at, form = rng.randrange(len(lines) + 1), rng.choice(_STATEMENTS)
    near = lines[at] if at < len(lines) else ""
    indent = near[: len(near) - len(near.lstrip())]
    lines[at:at] = (indent + form.format(a=name, i=indent)).split("\n")


def _slice(text: str, rng: random.Random, most: int = 200) -> tuple[int, int]:
    start = rng.randrange(len(text) + 1)
    return start, min(len(text), start + rng.randint(0, most))


def _cut(text: str, rng: random.Random) -> str:
    start, end = _slice(text, rng)
    return text[:start] + text[end:]


def _truncate(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _repeat(text: str, rng: random.Random) -> str:
    start, end = _slice(text, rng)
    return text[:end] + text[start:end] * rng.randint(1, 3) + text[end:]


def _splice(text: str, rng: random.Random) -> str:
    """Tokens of another file in place of some of these."""
    other = "\n".join(_piece(rng))
    (a, b), (c, d) = _slice(text, rng, 60), _slice(other, rng, 60)
    return text[:a] + other[c:d] + text[b:]


def _tokens(text: str, rng: random.Random) -> str:
    tokens = _TOKENS.findall(text) or [""]
    for _ in range(rng.randint(1, 4)):
        a, b = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        tokens[a], tokens[b] = tokens[b], tokens[a]
    return "".join(tokens)


def _replace(text: str, rng: random.Random) -> str:
    tokens = _TOKENS.findall(text) or [""]
    tokens[rng.randrange(len(tokens))] = rng.choice(_PIECES)
    return "".join(tokens)


def _insert(text: str, rng: random.Random) -> str:
    at, _ = _slice(text, rng)
    return text[:at] + rng.choice(_PIECES) + text[at:]


def _deep(text: str, rng: random.Random) -> str:
    depth = rng.choice((20, 90, 190, 500, 3000, 20000))
    shapes = ("(" * depth + "1" + ")" * depth, "x" + ".y" * depth, "x" + "(1)" * depth, "1" + "+1" * depth,
              "not " * depth + "1", "-" * depth + "1", "fz_check(" * depth + "f" + ")" * depth, "[" * depth,
              "lambda: " * depth + "1", "x = " * depth + "1")  # fmt: skip
    return f"{text}\nx = {rng.choice(shapes)}\n"


def _lines(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


def _blocks(text: str, rng: random.Random) -> str:
    """Two runs of lines from top-level to top-level change places."""
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if line[:1].strip()] or [0]
    a, b = sorted((rng.choice(starts), rng.choice(starts)))
    end = next((n for n in starts if n > b), len(lines))
    return "\n".join(lines[:a] + lines[b:end] + lines[a:b] + lines[end:])


def _wrap(text: str, rng: random.Random) -> str:
    """Everything from some top-level line on inside a compound statement."""
    heads = (
        "if x:", "try:", "def fz_outer(x):", "class FzOuter:", "while x:", "with x as y:", "for y in x:",
        "async def f():", "if TYPE_CHECKING:", "if 0:", "match x:\n  case 1:", "if __name__ == '__main__':",
    )  # fmt: skip
    lines = text.split("\n")
    start = rng.choice([n for n, line in enumerate(lines) if line[:1].strip()] or [0])
    head, inner = rng.choice(heads), ["     " + line for line in lines[start:]]
    tail = ["except x:", "    pass"] if head == "try:" else []
    return "\n".join([*lines[:start], head, *inner, "     pass", *tail])


def _endings(text: str, rng: random.Random) -> str:
    return text.replace("\n", rng.choice(("\r\n", "\r", "\n\f", " \\\n", "\n\n")))


def _statement(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    _annotate(lines, rng)
    return "\n".join(lines)


def _encoded(text: str, rng: random.Random) -> bytes:
    """Bytes, now and then under a coding comment, in that coding or not, with a mark, or with bits flipped."""
    if rng.random() < 0.9:
        data = text.encode("utf-8", errors="surrogatepass")
    else:
        coding = rng.choice(_CODINGS)
        text = f"# -*- coding: {coding} -*-\n{text}"
        honest = coding if rng.random() < 0.7 and coding not in ("nonsense", "rot13") else "utf-8"
        data = text.encode(honest, errors="replace")
    if rng.random() < 0.03:
        data = b"\xef\xbb\xbf" + data
    flipped = bytearray(data)
    for _ in range(rng.randint(1, 8) if rng.random() < 0.08 and data else 0):
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


_GENTLE = (_blocks, _wrap, _statement, _statement, _lines, _endings)
_ROUGH = (_cut, _truncate, _repeat, _splice, _tokens, _replace, _insert, _deep)
