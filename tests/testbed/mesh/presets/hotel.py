"""Hotel Reservation: 15 services, after DeathStarBench's public code.

Who calls whom is its code's; 60 % of its mixed workload search, 39 % ask for a recommendation, and the rest is shared
by logins and reservations: 36 % and 4 % here, so that enough of these are seen. Ours: the times; geo and user hold
their data in memory, as there. That one in ten reads misses its cache is ours too.
"""

from ..application import Call
from .shape import Shape, natures, to

MISS = 0.1


def _cached(service: str, cache: str, store: str) -> Call:
    return to(service, [to(cache)], [to(store, calls=MISS)])


PROFILE = _cached("profile", "memcached-profile", "mongodb-profile")
AVAILABLE = _cached("reservation", "memcached-reserve", "mongodb-reservation")
SEARCH = to(
    "frontend",
    [to("search", [to("geo")], [_cached("rate", "memcached-rate", "mongodb-rate")])],
    [AVAILABLE],
    [PROFILE],
)
RECOMMEND = to("frontend", [to("recommendation", [to("mongodb-recommendation", calls=MISS)])], [PROFILE])
LOGIN = to("frontend", [to("user")])
RESERVE = to("frontend", [to("user")], [to("reservation", [to("memcached-reserve")], [to("mongodb-reservation")])])

HOTEL = Shape(
    "hotel",
    natures(
        front={"frontend": 0.8},
        logic={
            "search": 0.8,
            "geo": 1.0,
            "rate": 1.1,
            "profile": 1.2,
            "recommendation": 1.0,
            "reservation": 1.0,
            "user": 0.4,
        },
        cache={"memcached-rate": 0.25, "memcached-profile": 0.3, "memcached-reserve": 0.25},
        store={
            "mongodb-rate": 1.0,
            "mongodb-profile": 1.2,
            "mongodb-reservation": 1.2,
            "mongodb-recommendation": 1.0,
        },
    ),
    {
        "search": (0.6, SEARCH),
        "recommend": (0.36, RECOMMEND),
        "login": (0.02, LOGIN),
        "reserve": (0.02, RESERVE),
    },
)
