"""Finding files and text: one view of the workspace under glob, grep and fuzzy search."""
