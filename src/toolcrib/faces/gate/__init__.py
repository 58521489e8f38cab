"""The gate: this workspace's tools over the Model Context Protocol. The only face that imports its SDK."""
