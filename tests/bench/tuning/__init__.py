"""Tuning on a simulated Social Network: the methods, and which services to tune."""
