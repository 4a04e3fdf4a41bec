"""The latency of a container as a function of its load and its host's contention, and the latency of pairs."""
