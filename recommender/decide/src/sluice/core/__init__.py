"""What every room knows: the keys of pools, and time."""
