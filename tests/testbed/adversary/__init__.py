"""Services that change as an adversary likes, worked out second by second without requests: for 10,000 of them.

`world.py` says what is true of a size at a second, and what spans make of it; `draw.py` draws worlds from a seed. Who
decides is outside: `bench.adversary` steps the recommender through them.
"""
