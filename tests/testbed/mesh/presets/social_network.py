"""Social Network: 36 services, after DeathStarBench (ASPLOS'19) and its public code.

Who calls whom follows both; 60 % of its mixed workload reads home timelines, 30 % user timelines, 10 % composes posts:
a twelfth of the reads searches here instead, which the code's workload does not. Ours: the times, which are such that a
pair's latency is from some ms to over 60 ms (Microns, figure 5c: a pair that gains 64.6 ms, one that varies by 0.5),
and that one in five reads misses its cache.
"""

from ..application import Call
from .shape import Shape, natures, to

MISS = 0.2


def _posts() -> Call:
    return to("post-storage", [to("post-storage-memcached")], [to("post-storage-mongodb", calls=MISS)])


READ_HOME = to(
    "nginx",
    [
        to(
            "home-timeline",
            [to("home-timeline-redis")],
            [_posts(), to("blocked-users"), to("ads"), to("recommender")],
        )
    ],
)
READ_USER = to(
    "nginx",
    [
        to(
            "user-timeline",
            [to("user-timeline-redis")],
            [to("user-timeline-mongodb", calls=MISS)],
            [_posts()],
        )
    ],
    [to("media-frontend", [to("media-memcached")], [to("media-mongodb", calls=MISS)], calls=0.5)],
)
COMPOSE = to(
    "nginx",
    [
        to(
            "compose-post",
            [
                to("unique-id"),
                to("media"),
                to("user", [to("user-memcached")], [to("user-mongodb", calls=MISS)]),
                to(
                    "text",
                    [
                        to("url-shorten", [to("url-shorten-memcached")], [to("url-shorten-mongodb")]),
                        to("user-mention", [to("user-memcached")], [to("user-mongodb", calls=MISS)]),
                    ],
                ),
            ],
            [
                to("post-storage", [to("post-storage-mongodb")]),
                to("user-timeline", [to("user-timeline-redis"), to("user-timeline-mongodb")]),
                to(
                    "write-home-timeline",
                    [to("social-graph", [to("social-graph-redis")], [to("social-graph-mongodb", calls=MISS)])],
                    [to("home-timeline-redis")],
                ),
            ],
        )
    ],
)
SEARCH = to(
    "nginx",
    [
        to(
            "search",
            [to("search-index-0"), to("search-index-1"), to("search-index-2")],
            [_posts(), to("favorite", [to("favorite-mongodb")])],
        )
    ],
)

SOCIAL_NETWORK = Shape(
    "social-network",
    natures(
        front={"nginx": 0.4, "media-frontend": 0.4},
        logic={
            "home-timeline": 1.2,
            "user-timeline": 1.0,
            "post-storage": 1.4,
            "compose-post": 0.9,
            "text": 1.0,
            "url-shorten": 0.5,
            "user-mention": 0.5,
            "unique-id": 0.06,
            "media": 0.8,
            "user": 0.4,
            "social-graph": 0.6,
            "write-home-timeline": 1.5,
            "search": 0.6,
            "search-index-0": 1.2,
            "search-index-1": 1.2,
            "search-index-2": 1.2,
            "ads": 0.4,
            "recommender": 0.6,
            "favorite": 0.3,
            "blocked-users": 0.2,
        },
        cache={
            "post-storage-memcached": 0.2,
            "url-shorten-memcached": 0.1,
            "media-memcached": 0.2,
            "user-memcached": 0.1,
            "social-graph-redis": 0.2,
            "home-timeline-redis": 0.25,
            "user-timeline-redis": 0.2,
        },
        store={
            "post-storage-mongodb": 1.0,
            "url-shorten-mongodb": 0.7,
            "media-mongodb": 1.2,
            "user-mongodb": 0.7,
            "social-graph-mongodb": 0.8,
            "user-timeline-mongodb": 0.8,
            "favorite-mongodb": 0.7,
        },
    ),
    {
        "read-home-timeline": (0.55, READ_HOME),
        "read-user-timeline": (0.275, READ_USER),
        "compose-post": (0.10, COMPOSE),
        "search": (0.075, SEARCH),
    },
)
