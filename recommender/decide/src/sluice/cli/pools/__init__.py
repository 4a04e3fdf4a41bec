"""`sluice pools`: what size each pool should have, and why."""
