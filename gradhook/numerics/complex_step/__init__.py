"""Complex-step differentiation over the equations of a function."""
