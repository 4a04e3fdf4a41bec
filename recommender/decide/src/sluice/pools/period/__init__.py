"""One control period of the pools of a shard."""
