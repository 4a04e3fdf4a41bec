"""The journal between deciders and servers: in memory, on a broker, and processes on it."""
