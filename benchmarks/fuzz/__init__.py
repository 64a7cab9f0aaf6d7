"""What makes hostile input, and what must be true of the answer? The parts of ``benchmarks/fuzzing.py``."""
