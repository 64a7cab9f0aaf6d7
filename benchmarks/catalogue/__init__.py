"""Which public functions of JAX are scanned, at which points, and what is the right answer at each?"""

from __future__ import annotations

from catalogue import (
    arithmetic,
    elementwise,
    everyday,
    lax,
    linalg,
    neural,
    reductions,
    special,
    special_several,
    stats,
)
from catalogue.records import Entry

ENTRIES: tuple[Entry, ...] = (
    *elementwise.ENTRIES,
    *arithmetic.ENTRIES,
    *special.ENTRIES,
    *special_several.ENTRIES,
    *neural.ENTRIES,
    *reductions.ENTRIES,
    *linalg.ENTRIES,
    *lax.ENTRIES,
    *stats.ENTRIES,
    *everyday.ENTRIES,
)
