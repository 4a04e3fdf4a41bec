"""The command `sluice completion`."""
