"""A chain of services under a closed loop of users, compiled: the engine of ``single`` and of ``path``.

users -> tier 0, 1 to n instances: [gate] compute, lock, wait -> tier 1: [gate] compute, wait -> ...

Requests go to the instances of the first tier, or of the second, by turns; every other tier is one that all share. A
request passes a tier's gate, computes, waits, calls the next tier, and holds all that it has passed until that has
answered. The gate of the tier with instances is the threads of each, that of the next the connections of each
instance that calls it. Lock, pauses and long requests are of the first tier; with locks or pauses it has one instance.
"""
