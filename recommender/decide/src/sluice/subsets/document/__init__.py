"""Applications and solutions as JSON, to compare strategies of others with. docs/subsets-file.md defines the
format."""
