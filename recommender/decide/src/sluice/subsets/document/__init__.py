"""Applications and solutions as JSON, so that strategies of others can be compared: recommender/README.md has the
form."""
