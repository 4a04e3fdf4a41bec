"""The commands `sluice subsets`."""
