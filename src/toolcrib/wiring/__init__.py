"""The composition root: the only package that sees contracts and adapters together."""
