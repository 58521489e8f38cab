"""Ways in: each translates its world into calls and outcomes back. Faces decide nothing."""
