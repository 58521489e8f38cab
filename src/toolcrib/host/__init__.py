"""The machine: adapters that implement the ports with the operating system. Only the composition root sees them."""
