"""The truth layer: one resident table of the files beneath a root, kept by the kernel's events."""
