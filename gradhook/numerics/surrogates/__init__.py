"""Functions with a rule of their own, and the declarations about them."""
