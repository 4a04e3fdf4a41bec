"""Subsets of a shard: read, learnt, solved and said beside its pools, in the same transactions."""
