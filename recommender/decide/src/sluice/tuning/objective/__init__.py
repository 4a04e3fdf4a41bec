"""The outcome of a trial: its measurement, its objective with an interval, and when to end it early."""
