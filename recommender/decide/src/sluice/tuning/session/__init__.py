"""A tuning session as one value, and the one function that makes the next: `step(session, event, now)`."""
