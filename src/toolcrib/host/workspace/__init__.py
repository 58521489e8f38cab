"""The membrane: the only code that opens, reads and writes workspace files, always beneath one root handle."""
