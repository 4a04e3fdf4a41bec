"""Decisions of pools as records and messages."""
