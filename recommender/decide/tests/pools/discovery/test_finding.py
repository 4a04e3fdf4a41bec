"""Which candidates are pools, and for how long."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.model.keys import PoolKey
from sluice.pools.discovery.candidate import Candidate, Load
from sluice.pools.discovery.finding import NAMELESS, UNSIZED, Fits, KnownSize, Signs, next_candidates
from sluice.pools.discovery.selection import Discovery

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
CART = PoolKey("cart", "server", "")
DB = PoolKey("cart", "client", "db")
MAIL = PoolKey("mail", "consumer", "")


def loads(**in_flight: float) -> dict[PoolKey, Load]:
    """Server pools by service."""
    keys = {PoolKey(service, "server", ""): value for service, value in in_flight.items()}
    return {key: Load(key, value, 1, 0.5, 10.0) for key, value in keys.items()}


def sized(*services: str) -> Signs:
    return Signs(sizes={PoolKey(service, "server", ""): KnownSize("metrics", 10) for service in services})


def pools(candidates: dict[PoolKey, Candidate]) -> list[str]:
    return sorted(key.service for key, one in candidates.items() if one.found_by is not None)


def test_a_candidate_becomes_a_pool_by_its_size_or_its_bound() -> None:
    shown = {key: Load(key, 1.0, 2, 0.5, 10.0) for key in (CART, DB, MAIL, PoolKey("cart", "client", "unknown"))}
    signs = Signs(
        configured={MAIL},
        sizes={
            CART: KnownSize("actuator", None),
            DB: KnownSize("bound", 10),
            PoolKey("cart", "client", "unknown"): KnownSize("metrics", 5),
        },
        bounds={DB: "stops at 10"},
    )
    after = next_candidates({}, shown, signs, Discovery(), 5_000)
    cart, db, mail, unknown = after.values()
    assert (cart.found_by, cart.why, cart.size, cart.size_from) == (
        "actuator",
        "an actuator reported its size",
        None,
        "actuator",
    )
    assert (db.found_by, db.found_at_ms, db.why, db.size, db.size_from) == (
        "bound",
        5_000,
        "stops at 10",
        10,
        "bound",
    )
    assert (mail.found_by, mail.why) == ("configuration", "the configuration names it")
    assert (unknown.found_by, unknown.why, unknown.instances) == (None, NAMELESS, 2)


def test_why_a_candidate_is_no_pool() -> None:
    shown = {key: Load(key, 1.0, 1, 0.5, 10.0) for key in (CART, DB)}
    after = next_candidates({}, shown, Signs(doubts={DB: "two pools may be it"}), Discovery(), 0)
    assert [one.why for one in after.values()] == [UNSIZED, "two pools may be it"]


def test_an_event_loop_is_a_pool_by_a_size_only() -> None:
    shown = {key: Load(key, 1.0, 1, 0.9, 10.0) for key in (CART, DB)}
    signs = Signs(sizes={CART: KnownSize("metrics", 10)}, threadless={DB: "its spans hold no thread"})
    cart, db = next_candidates({}, shown, signs, Discovery(), 0).values()
    assert (cart.found_by, db.found_by, db.why) == ("metrics", None, "its spans hold no thread")


def test_most_loaded_first_and_a_pool_keeps_its_place() -> None:
    two = Discovery(most=2)
    first = next_candidates({}, loads(a=1.0, b=3.0, c=2.0), sized("a", "b", "c"), two, 0)
    assert pools(first) == ["b", "c"]
    assert first[PoolKey("a", "server", "")].why == "2 pools were found already: discovery.most"
    after = next_candidates(first, loads(a=9.0, b=0.1, c=0.1), sized("a"), two, 20_000)
    assert pools(after) == ["b", "c"], "neither a low load nor a size that is unknown now drops a pool"
    assert after[PoolKey("b", "server", "")].size is None


def test_pools_end_where_the_memory_does() -> None:
    signs = sized("a", "b", "c")._replace(configured={PoolKey("a", "server", "")})
    fits = Fits(2, "2 pools fit in 1 MiB")
    first = next_candidates({}, loads(a=1.0, b=3.0, c=2.0), signs, Discovery(), 0, fits)
    assert pools(first) == ["a", "b"], "the configured pool takes one of the two places"
    assert first[PoolKey("c", "server", "")].why == "the decider's memory is taken: 2 pools fit in 1 MiB"
    less = next_candidates(first, loads(a=1.0, b=3.0, c=2.0), signs, Discovery(), 0, Fits(0, "none"))
    assert pools(less) == ["a", "b"], "what is a pool stays one"
    most = next_candidates({}, loads(b=3.0, c=2.0), sized("b", "c"), Discovery(most=1), 0, fits)
    assert most[PoolKey("c", "server", "")].why == "1 pools were found already: discovery.most"


def test_a_configured_pool_takes_no_place() -> None:
    signs = sized("a", "b")._replace(configured={PoolKey("b", "server", "")})
    assert pools(next_candidates({}, loads(a=1.0, b=3.0), signs, Discovery(most=1), 0)) == ["a", "b"]


def test_a_pool_without_spans_stays_for_a_day_and_another_candidate_for_an_hour() -> None:
    known = next_candidates({}, loads(pool=1.0, none=1.0), sized("pool"), Discovery(), 0)
    other = loads(other=1.0)

    def left(now_ms: int) -> list[str]:
        return sorted(key.service for key in next_candidates(known, other, Signs(), Discovery(), now_ms))

    assert left(HOUR_MS) == ["none", "other", "pool"]
    assert left(HOUR_MS + 1) == ["other", "pool"]
    assert left(DAY_MS) == ["other", "pool"]
    assert left(DAY_MS + 1) == ["other"]
    assert len(next_candidates(known, {}, Signs(), Discovery(), DAY_MS + 1)) == 2, "no spans at all arrive"


def test_no_discovery_and_no_selection_leave_no_candidate() -> None:
    known = next_candidates({}, loads(a=1.0, b=1.0), sized("a", "b"), Discovery(), 0)
    assert next_candidates(known, loads(a=1.0), sized("a"), None, 1) == {}
    without = Discovery.model_validate({"exclude": [{"service": "a*"}]})
    assert pools(next_candidates(known, loads(a=1.0, b=1.0), sized("a", "b"), without, 1)) == ["b"]


def test_a_pool_that_leaves_the_file_is_found_again_by_its_size() -> None:
    signs = Signs(configured={CART})
    known = next_candidates({}, {CART: Load(CART, 1.0, 1, 0.5, 10.0)}, signs, Discovery(), 0)
    assert known[CART].found_by == "configuration"
    assert next_candidates(known, {}, Signs(), Discovery(), 1_000)[CART].found_by is None
    found = next_candidates(known, {}, Signs(sizes={CART: KnownSize("metrics", 5)}), Discovery(), 1_000)[CART]
    assert (found.found_by, found.found_at_ms) == ("metrics", 1_000)


@given(st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 100)), max_size=6), st.integers(1, 5))
def test_never_more_than_most_and_never_fewer_than_before(readings: list[dict[str, float]], most: int) -> None:
    candidates: dict[PoolKey, Candidate] = {}
    for number, reading in enumerate(readings):
        before = pools(candidates)
        candidates = next_candidates(
            candidates, loads(**reading), sized(*"aceg"), Discovery(most=most), 20_000 * number
        )
        assert set(before) <= set(pools(candidates)) <= set("aceg")
        assert len(pools(candidates)) <= most
