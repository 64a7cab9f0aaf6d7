"""From a claim's options to the cases that are checked."""
