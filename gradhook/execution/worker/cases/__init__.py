"""Turn a claim's options into the cases that are checked."""
