"""The parts of ``benchmarks/fuzz_verdicts.py``."""
