"""Judge claimed derivatives against measured ones, and word the result."""
