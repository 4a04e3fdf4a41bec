"""Programs of Sluice, started for a test: deciders, the recommender."""
