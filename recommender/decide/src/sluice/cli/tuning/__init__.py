"""The commands `sluice tuning`."""
