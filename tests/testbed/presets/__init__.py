"""Ready-made scenarios."""
