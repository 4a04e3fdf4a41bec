"""The decider's program: composes the products."""
