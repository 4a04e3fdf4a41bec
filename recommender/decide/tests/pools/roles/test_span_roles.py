"""What spans say of a pool: left out, or served without a thread of a pool; counted by hand."""

from sluice.model.keys import PoolKey
from sluice.pools.roles.span_roles import NO_ROLES, SpanRoles, is_pool, notes_of, roles_of

WEB, DB = PoolKey("web", "server", ""), PoolKey("web", "client", "db")


def test_rows_become_numbers_by_pool_and_rule() -> None:
    roles = roles_of(
        [
            ("server", "web", "", "", "", 1_000),
            ("server", "web", "", "leave_out", "probe-path", 60),
            ("server", "web", "", "around", "websocket", 7),
            ("server", "web", "", "not_a_pool", "nodejs", 1_000),
            ("client", "web", "db", "", "", 500),
            ("client", "web", "db", "waiting", "acquire-node-pg", 500),
        ]
    )
    assert roles == {
        WEB: SpanRoles(1_000, {"probe-path": 60, "websocket": 7}, {"nodejs": 1_000}),
        DB: SpanRoles(500, {"acquire-node-pg": 500}),
    }
    assert not is_pool(roles[WEB], sized=False)
    assert is_pool(roles[DB], sized=False)
    (note,) = notes_of(roles[WEB], sized=False)
    assert note.code == "NOT_A_POOL"
    assert "100% of its spans hold no thread of a pool (rules of spans.toml: nodejs)" in note.text


def test_a_size_that_somebody_reports_makes_it_a_pool() -> None:
    node = SpanRoles(1_000, {}, {"nodejs": 1_000})
    assert is_pool(node, sized=True)
    assert notes_of(node, sized=True) == ()


def test_less_than_half_of_the_spans_do_not_decide() -> None:
    assert is_pool(SpanRoles(1_000, {}, {"event-loop-thread": 499}), sized=False)
    assert not is_pool(SpanRoles(1_000, {}, {"event-loop-thread": 400, "virtual-thread": 100}), sized=False)
    assert is_pool(NO_ROLES, sized=False)


def test_sidecars_that_gave_way_to_their_application_do_not_count() -> None:
    """Of 1,000 of Envoy's spans 900 had an application's below them: 100 of the 1,000 that count are a proxy's."""
    (roles,) = roles_of(
        [
            ("server", "web", "", "", "", 1_000),
            ("server", "web", "", "nested", "nested", 900),
            ("server", "web", "", "sidecar", "envoy", 1_000),
        ]
    ).values()
    assert roles == SpanRoles(1_000, {"nested": 900}, {"envoy": 100})
    assert is_pool(roles, sized=False)
    (alone,) = roles_of(
        [("server", "web", "", "", "", 1_000), ("server", "web", "", "sidecar", "envoy", 1_000)]
    ).values()
    assert not is_pool(alone, sized=False)
