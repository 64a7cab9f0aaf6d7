"""Load modules and resolve claims to functions."""
