"""Interpreters of a function's own equations."""
