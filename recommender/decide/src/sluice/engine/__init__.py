"""Runs a shard: periods, takeover, leases, workers. Knows products by `product.py` only."""
