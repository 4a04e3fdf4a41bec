"""What the engine has room for."""

QUEUE_LIMIT = 10_000
"""Before the first tier's gate; who comes beyond fails at once."""
MOST_TIERS, MOST_INSTANCES = 3, 16
"""Instances of the replicated tier over a run; those that are gone count."""
MOST_THREADS, MOST_USERS, MOST_SECONDS = 1024, 1 << 15, 14_400
MOST_CALLS = 1 << 12
"""In a tier at a time."""
