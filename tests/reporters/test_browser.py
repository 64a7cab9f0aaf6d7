"""Does a real browser show the page: by day and by night, filtered, without an error?

Needs Chromium or Chrome; without one the tests are skipped with the reason.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from gradhook.model.report import Report
from gradhook.reporters import html_plots
from gradhook.reporters.html import render

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason=f"no browser here: none of {', '.join(NAMES)} is on PATH"),
    pytest.mark.skipif(not html_plots.available(), reason="pygal, which draws, comes with the extras html and test"),
]
Browse = Callable[..., str]


@pytest.fixture
def browse(tmp_path: Path) -> Browse:
    """What the browser prints when it has shown a page from disk, without a network."""

    def show(*arguments: str) -> str:
        basis = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        )
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        done = subprocess.run(
            [str(BROWSER), *basis, profile, *arguments], capture_output=True, text=True, timeout=120, check=True
        )
        return done.stdout

    return show


def page(folder: Path, text: str) -> str:
    (folder / "page.html").write_text(text, encoding="utf-8")
    return (folder / "page.html").as_uri()


def asked(report: Report, script: str) -> str:
    """The page with a script in it that notes something on its root; the policy against scripts is taken out."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", render(report))
    return text.replace("</body>", f"<script>document.documentElement.dataset.said = {script}</script></body>")


def said(dom: str) -> str:
    found = re.search(r'data-said="([^"]*)"', dom)
    assert found
    return found[1]


def test_it_is_what_was_written(browse: Browse, pictured: Report, tmp_path: Path) -> None:
    dom = browse("--dump-dom", page(tmp_path, render(pictured)))
    assert dom.count("<svg") == 4 and dom.count("<article") == 5
    assert '<html lang="en">' in dom


def test_the_filter_hides_and_shows(browse: Browse, pictured: Report, tmp_path: Path) -> None:
    visible = "[...document.querySelectorAll('section.target')].filter(e => e.checkVisibility()).length"
    script = f"""(() => {{ const before = {visible}; document.querySelector('#show-fail').click();
      document.querySelector('#show-pass').click(); return [before, {visible}].join(); }})()"""
    assert said(browse("--dump-dom", page(tmp_path, asked(pictured, script)))) == "6,3"


def test_plots_are_as_large_as_they_look_and_text_fits(browse: Browse, pictured: Report, tmp_path: Path) -> None:
    script = """(() => { const charts = [...document.querySelectorAll('svg')].map(e => e.getBoundingClientRect());
      const overflow = document.documentElement.scrollWidth > document.documentElement.clientWidth;
      return [charts.every(b => b.width > 300 && b.height > 150), overflow].join(); })()"""
    assert said(browse("--dump-dom", "--window-size=420,900", page(tmp_path, asked(pictured, script)))) == "true,false"


@pytest.mark.parametrize(("scheme", "dark"), [("1", False), ("0", True)])
def test_day_and_night(browse: Browse, pictured: Report, tmp_path: Path, scheme: str, dark: bool) -> None:
    shot = tmp_path / "shot.png"
    browse(f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={shot}", "--window-size=500,400",
           page(tmp_path, render(pictured)))  # fmt: skip
    colours = pixels(shot)
    paper = max(set(colours), key=colours.count)
    assert (sum(paper) < 200) is dark
    assert len(set(colours)) > 20  # something is drawn on it


def test_colours_can_be_told_from_the_paper(browse: Browse, pictured: Report, tmp_path: Path) -> None:
    """WCAG AA: 4.5 for every text, by day and by night."""
    script = """(() => { const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
      .map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126*v[0] + .7152*v[1] + .0722*v[2]; };
      const paper = light(getComputedStyle(document.body).backgroundColor);
      const ratios = [...document.querySelectorAll('p, span, code, h1, h2, figcaption, a, summary')].map(e => {
        const ink = light(getComputedStyle(e).color);
        return (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05); });
      return Math.min(...ratios).toFixed(2); })()"""
    for scheme in ("0", "1"):
        dom = browse(
            "--dump-dom", f"--blink-settings=preferredColorScheme={scheme}", page(tmp_path, asked(pictured, script))
        )
        assert float(said(dom)) >= 4.5


def test_it_can_be_printed(browse: Browse, pictured: Report, tmp_path: Path) -> None:
    paper = tmp_path / "page.pdf"
    browse(f"--print-to-pdf={paper}", page(tmp_path, render(pictured)))
    assert paper.read_bytes().startswith(b"%PDF") and paper.stat().st_size > 20_000


def pixels(path: Path) -> list[tuple[int, int, int]]:
    """Every 97th pixel of a PNG of 8 bits a channel: enough to see colours, without a library for images."""
    data, at, packed, header = path.read_bytes(), 8, b"", b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        header, packed = (body if kind == b"IHDR" else header), packed + (body if kind == b"IDAT" else b"")
        at += 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", header[:10])
    assert depth == 8 and colour in (2, 6)
    size, raw = 3 if colour == 2 else 4, zlib.decompress(packed)
    rows, before = [], bytes(width * size)
    for number in range(height):
        start = number * (width * size + 1)
        before = unfiltered(raw[start], raw[start + 1 : start + 1 + width * size], before, size)
        rows.append(before)
    flat = b"".join(rows)
    return [tuple(flat[k : k + 3]) for k in range(0, len(flat) - 3, size * 97)]  # type: ignore[misc]


def unfiltered(kind: int, row: bytes, above: bytes, size: int) -> bytes:
    """One line of a PNG, https://www.w3.org/TR/png-3/#9Filters."""
    if kind == 0:
        return row
    out = bytearray(row)
    for k in range(len(out)):
        a, b, c = (out[k - size] if k >= size else 0), above[k], (above[k - size] if k >= size else 0)
        guess = min((a, b, c), key=lambda v: (abs(a + b - c - v), (a, b, c).index(v)))
        out[k] = (out[k] + (a, b, (a + b) // 2, guess)[kind - 1]) % 256
    return bytes(out)
