"""Which configuration to try next: one method a file, each a pure function of what was tried."""
