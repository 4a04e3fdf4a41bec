"""Applications and their callers, which Sluice measures and resizes."""
