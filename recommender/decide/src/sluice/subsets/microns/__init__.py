"""Microns: quotas by graph merge, workloads by latency, connections by workloads; and weights, which go beyond it."""
