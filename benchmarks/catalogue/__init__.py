"""Which public functions of JAX are scanned, at which points, and what is the right answer at each?"""

from __future__ import annotations

from catalogue import elementwise, everyday, lax, linalg, neural, reductions, special, stats
from catalogue.records import Entry

ENTRIES: tuple[Entry, ...] = (
    *elementwise.ENTRIES,
    *special.ENTRIES,
    *neural.ENTRIES,
    *reductions.ENTRIES,
    *linalg.ENTRIES,
    *lax.ENTRIES,
    *stats.ENTRIES,
    *everyday.ENTRIES,
)
