"""Keep results, and reuse them while everything they depend on is unchanged."""
