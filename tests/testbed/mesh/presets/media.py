"""Media Service: 38 services, after DeathStarBench (ASPLOS'19) and its public code.

A page is read by four subgraphs in parallel (Microns 7.2.3); a review is composed from four in parallel, and stored by
three. Ours: the mix of operations and the times.
"""

from ..application import Call
from .shape import Shape, natures, to

MISS = 0.2


def _cached(service: str, store: str = "") -> Call:
    return to(service, [to(f"{service}-memcached")], [to(store or f"{service}-mongodb", calls=MISS)])


REVIEWS = to("movie-review", [to("movie-review-redis")], [_cached("review-storage")])
READ_PAGE = to(
    "nginx",
    [
        to(
            "page",
            [_cached("movie-info"), _cached("plot"), _cached("cast-info"), REVIEWS],
            [to("photo", [to("photo-store")]), to("ads")],
        )
    ],
)
COMPOSE_REVIEW = to(
    "nginx",
    [
        to(
            "compose-review",
            [
                to("unique-id"),
                to("movie-id", [to("movie-id-memcached")], [to("movie-id-mongodb", calls=MISS), to("rating")]),
                to("text"),
                _cached("user"),
            ],
            [to("compose-review-memcached")],
            [
                to("review-storage", [to("review-storage-mongodb")]),
                to("user-review", [to("user-review-redis")]),
                to("movie-review", [to("movie-review-redis")]),
            ],
        )
    ],
)
RENT = to(
    "nginx",
    [to("login", [_cached("user")])],
    [to("rent-movie", [to("payment"), to("recommender")], [to("video-info", [to("video-nginx")])])],
)

MEDIA = Shape(
    "media",
    natures(
        front={"nginx": 0.4, "video-nginx": 0.8},
        logic={
            "page": 0.9,
            "movie-info": 0.7,
            "plot": 0.4,
            "cast-info": 0.9,
            "movie-review": 0.8,
            "review-storage": 1.3,
            "user-review": 0.6,
            "compose-review": 1.0,
            "unique-id": 0.06,
            "movie-id": 0.6,
            "text": 0.7,
            "user": 0.5,
            "rating": 0.4,
            "photo": 0.5,
            "ads": 0.3,
            "login": 0.6,
            "rent-movie": 0.8,
            "payment": 0.7,
            "recommender": 0.9,
            "video-info": 0.5,
        },
        cache={
            "movie-info-memcached": 0.2,
            "plot-memcached": 0.15,
            "cast-info-memcached": 0.2,
            "review-storage-memcached": 0.25,
            "movie-id-memcached": 0.1,
            "user-memcached": 0.1,
            "compose-review-memcached": 0.2,
            "movie-review-redis": 0.2,
            "user-review-redis": 0.2,
        },
        store={
            "movie-info-mongodb": 0.9,
            "plot-mongodb": 0.7,
            "cast-info-mongodb": 1.0,
            "review-storage-mongodb": 1.1,
            "movie-id-mongodb": 0.7,
            "user-mongodb": 0.7,
            "photo-store": 0.5,
        },
    ),
    {"read-page": (0.6, READ_PAGE), "compose-review": (0.25, COMPOSE_REVIEW), "rent-movie": (0.15, RENT)},
)
