"""Servers that Sluice uses, started for a test on free ports, with the configuration of the local stack."""
