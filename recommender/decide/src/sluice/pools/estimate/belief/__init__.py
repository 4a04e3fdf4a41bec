"""The belief over a pool's curve of throughput over concurrency, from all evidence of the pool.

    seconds (evidence.py) -> shapes weighted by their fit (posterior.py over family.py) -> gains of sizes
                             seconds that contradict the belief are set aside first (doubt.py)

An estimator of the papers looks for a knee in a window of 60 s. The belief keeps every size that was in force, forgets
slowly and states its uncertainty. `pools.policy` decides by it.
"""
