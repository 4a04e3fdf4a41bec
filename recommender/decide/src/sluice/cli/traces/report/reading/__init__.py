"""Reads recorded traces into columns."""
