"""The subsets of a shard: reads, trains, solves and publishes them beside its pools, in the same transactions."""
