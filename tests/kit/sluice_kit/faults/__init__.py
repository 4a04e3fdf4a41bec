"""Faults of a machine, put into a stack that runs: disks, connections, processes."""
