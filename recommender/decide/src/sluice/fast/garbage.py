"""Makes Python's search for reference cycles rare: with 10,000 pools it takes 2 s, and finds none."""

import gc

# New objects before a search of the young ones; searches of those before one of the middle generation; and searches of
# that one before a search of all.
YOUNG, OLDER, ALL = 50_000, 20, 1_000


def search_rarely() -> None:
    """Reference counts free states and answers when new ones replace them. Objects with cycles, as calls, are young."""
    gc.set_threshold(YOUNG, OLDER, ALL)
