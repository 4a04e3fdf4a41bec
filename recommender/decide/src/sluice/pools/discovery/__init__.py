"""Pools that spans show: candidates, which of them are pools, and the configuration with them."""
