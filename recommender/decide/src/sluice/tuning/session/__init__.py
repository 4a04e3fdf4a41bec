"""A tuning session as one value, and the function that makes the next one: `step(session, event, now)`."""
