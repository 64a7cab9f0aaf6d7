"""The public functions of JAX that are scanned, at which points, with the right answer at each."""

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
