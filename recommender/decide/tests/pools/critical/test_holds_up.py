"""What each service holds up, and the record for the table, with shares by hand."""

from dataclasses import replace

from sluice.pools.critical.holds_up import HoldsUp, blame_message, blame_of, holds_up
from sluice.pools.critical.localizations import TraceRoot
from sluice.pools.critical.record import MOST_ROOTS, MOST_SERVICES, record_of
from sluice.pools.estimate.critical import Localization, Ranked

CHECKOUT, REFUND, BROWSE = (TraceRoot("shop", name) for name in ("checkout", "refund", "browse"))
PLAIN = Ranked("", 1.0, 10.0, 0.0, 12.0, 0.3, 0.9, 2.0, None, None, None, ())


def ranked(critical: str | None = None, **shares: float) -> Localization:
    ranking = tuple(replace(PLAIN, service=name, share_of_p95=share) for name, share in shares.items())
    return Localization(600, ranking, critical, (), (), 80.0)


def test_critical_operations_come_first_and_then_the_largest_share() -> None:
    held = holds_up(
        {
            CHECKOUT: ranked("payment", payment=0.34, shop=0.66),
            REFUND: ranked(payment=0.6, shop=0.4),
            BROWSE: ranked("shop", payment=0.04, shop=0.96),
        }
    )
    assert held == {
        "payment": (HoldsUp(CHECKOUT, 0.34, True), HoldsUp(REFUND, 0.6, False)),
        "shop": (HoldsUp(BROWSE, 0.96, True), HoldsUp(CHECKOUT, 0.66, False), HoldsUp(REFUND, 0.4, False)),
    }
    assert blame_of("mail", held) == ()


def test_a_critical_service_with_a_small_share_counts() -> None:
    assert holds_up({CHECKOUT: ranked("payment", payment=0.03)}) == {"payment": (HoldsUp(CHECKOUT, 0.03, True),)}


def test_nothing_is_known_without_an_operation_of_enough_traces() -> None:
    held = holds_up({CHECKOUT: Localization(12, (), None, ())})
    assert held is None
    assert blame_message(blame_of("payment", held)) is None
    nobody = blame_message(())
    assert nobody is not None
    assert len(nobody.holds_up) == 0


def test_at_most_three_operations_are_named() -> None:
    roots = {TraceRoot("shop", str(number)): ranked(payment=0.1 * number) for number in range(1, 6)}
    held = holds_up(roots)
    assert held is not None
    assert [one.root.operation for one in held["payment"]] == ["5", "4", "3"]


def test_the_record_has_the_first_services_of_the_busiest_operations() -> None:
    services = {f"s{number}": 0.05 for number in range(MOST_SERVICES + 5)}
    roots = {TraceRoot("shop" * 20, f"/some/operation/{number}"): ranked("s0", **services) for number in range(300)}
    record = record_of(roots, 30_000)
    assert len(record.services) == MOST_ROOTS * MOST_SERVICES
    first, second = record.services[:2]
    assert (first.service, first.rank, first.critical) == ("s0", 1, True)
    assert (first.traces, first.p95_ms, first.share_of_p95, first.blame_ms) == (600, 80.0, 0.05, 12.0)
    assert (second.rank, second.critical) == (2, False)
    assert record.at.ToMilliseconds() == 30_000
    assert record.ByteSize() < 500_000
