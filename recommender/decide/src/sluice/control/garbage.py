"""Python's search for cycles among all objects, made rare: of 10,000 pools it takes 2 s, and finds nothing."""

import gc

# Objects more than were freed, until the young ones are looked at; times that these are, until those are that outlived
# it; and times that those are, until all are.
YOUNG, OLDER, ALL = 50_000, 20, 1_000


def search_rarely() -> None:
    """States and answers are freed when the next ones take their place; what has cycles, such as calls, is young."""
    gc.set_threshold(YOUNG, OLDER, ALL)
