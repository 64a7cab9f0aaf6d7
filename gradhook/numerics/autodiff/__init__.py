"""Derivatives by JAX: programs, consistency, rounding, errors."""
