"""Agents of the pools that are decided by `model: dqn`: trained in a process of their own, kept in files."""
