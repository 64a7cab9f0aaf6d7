"""A project that is edited at random, for ``benchmarks/stale.py``."""
