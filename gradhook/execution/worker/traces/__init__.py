"""What `gradhook explain` shows of a case."""
