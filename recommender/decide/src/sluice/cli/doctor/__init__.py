"""`sluice doctor`: is each stage of the flow well, and if not, what to do."""
