"""Derivatives by JAX and by finite differences."""
