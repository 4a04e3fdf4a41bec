"""A chain of services under a closed loop of users, compiled: the engine of ``single`` and of ``path``.

users -> tier 0, 1 to n instances: [gate] compute, lock, wait -> tier 1: [gate] compute, wait -> ...

A request goes to the instances of the first tier by turns; every other tier is one that all share. It passes a tier's
gate, computes, waits, calls the next tier, and holds all that it has passed until that has answered.
The gate of the first tier is the threads of an instance, that of another the connections of who calls it, by the
caller's instance. Lock and pauses are of the first tier, which then has one instance.
"""
