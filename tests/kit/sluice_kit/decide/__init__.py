"""Worlds of the decider's tests: applications, windows, states and loops, without servers."""
