"""Selectors of pools, and the part of discovery that each group has."""

from collections import Counter

import pytest

from sluice.config import Config
from sluice.config.load import parse
from sluice.model.keys import PoolKey
from sluice.pools.discovery.candidate import Candidate
from sluice.pools.discovery.configured import with_found
from sluice.pools.discovery.selection import Discovery, PoolSelector

CART = PoolKey("shop.cart", "server", "")
DB = PoolKey("shop.cart", "client", "db/shop")


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({"service": "shop.*"}, [CART, DB]),
        ({"service": "shop"}, []),
        ({"service": "shop*art", "side": "server"}, [CART]),
        ({"peer": "db/*"}, [DB]),
        ({"peer": "*"}, [CART, DB]),
        ({"service": "sh.p*"}, []),
        ({"side": "consumer"}, []),
    ],
)
def test_a_star_stands_for_any_text(selector: dict[str, str], selected: list[PoolKey]) -> None:
    assert [key for key in (CART, DB) if PoolSelector.model_validate(selector).selects(key)] == selected


def test_excluded_goes_before_included() -> None:
    discovery = Discovery.model_validate({"include": [{"service": "shop*"}], "exclude": [{"side": "client"}]})
    assert [discovery.selects(key) for key in (CART, DB, PoolKey("mail", "server", ""))] == [True, False, False]


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "pools: auto", "pools: []\ndiscovery: {}"])
def test_pools_are_found_by_default(text: str) -> None:
    config = parse(text, "sluice.yaml")
    assert (config.pools, config.discovery) == ([], Discovery())


def test_a_list_of_pools_finds_none_and_with_discovery_overrides_those_found() -> None:
    named = "pools: [{service: shop.cart, side: server, threshold: 1s, bounds: {max: 5}}]"
    assert parse(named, "sluice.yaml").discovery is None
    config = parse(f"{named}\ndiscovery: {{exclude: [{{service: mail}}]}}", "sluice.yaml")
    found = {
        key: Candidate(key, "", found_by, at_ms)
        for key, found_by, at_ms in (
            (PoolKey("late", "server", ""), "metrics", 2),
            (DB, "bound", 1),
            (CART, "metrics", 1),
            (PoolKey("mail", "server", ""), "metrics", 1),
            (PoolKey("none", "server", ""), None, 0),
            (PoolKey("left", "server", ""), "configuration", 0),
        )
    }
    pools = with_found(config, found).pools
    assert [str(pool.key) for pool in pools] == ["shop.cart/server", "shop.cart/client/db/shop", "late/server"]
    assert [pool.bounds.max for pool in pools] == [5, 1_000, 1_000]
    assert [pool.threshold for pool in pools] == [1_000, None, None]


def test_each_service_is_of_one_group_and_a_further_group_takes_only_its_part() -> None:
    text = "pools: [{service: named, side: server, group: c}]\ndiscovery: {}\ngroups: "
    keys = [PoolKey(f"service-{number}", "server", "") for number in range(3_000)]

    three, four = (parse(text + groups, "x") for groups in ("[a, b, c]", "[a, b, c, d]"))

    def placed(config: Config) -> dict[PoolKey, int]:
        parts = [config.of_shard(number).discovery for number in range(len(config.groups))]
        return {key: number for key in keys for number, part in enumerate(parts) if part and part.selects(key)}

    before, after = placed(three), placed(four)
    assert before.keys() == after.keys() == set(keys)
    assert all(850 < count < 1_150 for count in Counter(before.values()).values())
    assert {number for key, number in after.items() if number != before[key]} == {3}
    parts = [three.of_shard(number).discovery for number in range(3)]
    for key in (PoolKey("named", "server", ""), PoolKey("named", "client", "db")):
        assert [part is not None and part.selects(key) for part in parts] == [False, False, True]
