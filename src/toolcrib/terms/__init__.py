"""The words: calls, outcomes, descriptors and records. Pure values; nothing here touches the operating system."""
