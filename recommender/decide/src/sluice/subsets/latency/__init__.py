"""The latency of a container from its load and its host's contention, and that of a pair from those of its
containers."""
