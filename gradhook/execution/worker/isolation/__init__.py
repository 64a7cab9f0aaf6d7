"""Keep the state of one target from another."""
