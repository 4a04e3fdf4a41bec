"""The testbed's patterns (`testbed.patterns`) with the recommender's own loop, beside the size that the operator had.

Everything from a pool's buckets on is the product's: which of them are whole (`sluice.pools.windows`), what is decided
(`sluice.decider`), and the rules of the actuator. Spans come at their end and a delay later, by their host's clock.
"""
