"""Sluice: pool sizes from traces."""
