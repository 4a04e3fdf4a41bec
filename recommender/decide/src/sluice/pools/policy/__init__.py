"""One decision per pool: `step(state, observation, now)` is all that makes one, and nothing else remembers."""
