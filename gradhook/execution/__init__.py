"""Execution of checks: session, cache, worker processes and their supervision."""
