"""Agents of pools with `model: dqn`: trained in a process of their own, kept in files."""
