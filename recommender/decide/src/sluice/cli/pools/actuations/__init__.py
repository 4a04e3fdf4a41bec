"""The group `sluice actuations`."""
