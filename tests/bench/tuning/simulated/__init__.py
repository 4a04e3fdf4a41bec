"""A simulated application to tune, whose best configuration is known, and the shipped methods on it."""
