"""The contracts: one small file a power. A tool can do nothing that it did not ask for here by type."""
