"""Ends a session when the local stack stands still."""
