"""Programs of Sluice, started for a test: collector, deciders, the recommender."""
