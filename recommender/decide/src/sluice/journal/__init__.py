"""What outlives the process, as records: which are due, how they are named, where they go."""
