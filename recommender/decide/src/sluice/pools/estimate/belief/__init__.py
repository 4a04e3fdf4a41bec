"""What is believed of a pool's curve of throughput over concurrency, from all that was ever seen of it.

    seconds (evidence.py) -> shapes weighted by how well they fit them (posterior.py over family.py) -> gains of sizes
                             what contradicts the belief is set apart first (doubt.py)

An estimator of the papers asks a window of 60 s for a knee. The belief keeps every size that was in force, forgets
slowly, says how sure it is, and is what `pools.policy` decides by.
"""
