"""Tuning sessions in the decider."""
