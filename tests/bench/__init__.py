"""Benches: `make bench`."""
