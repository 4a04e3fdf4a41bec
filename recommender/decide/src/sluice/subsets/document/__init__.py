"""Applications and solutions as JSON, to compare strategies of others with. recommender/README.md defines the
format."""
