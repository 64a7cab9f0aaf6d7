"""Collect what ``gradhook explain`` shows of a case."""
