"""The decision of one pool. `step(state, observation, now)` makes it and returns the next state; nothing else
remembers."""
