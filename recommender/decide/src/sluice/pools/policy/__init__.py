"""One decision per pool: `step(state, observation) -> (state', decision)` is all that makes one, and nothing else remembers."""
