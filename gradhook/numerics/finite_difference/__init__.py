"""Measure directional derivatives by finite differences with an error bar."""
