"""For authors of tools: a crib on a bench of its own, and fakes that pass the suites of the real adapters."""

from toolcrib.testing.bench import bench

__all__ = ["bench"]
