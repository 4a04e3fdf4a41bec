"""`sluice pools`: the size of each pool, and the reasons for it."""
