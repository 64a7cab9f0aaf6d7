"""Keep targets from affecting each other."""
