from pathlib import Path

import pytest
import yaml
from hypothesis import given

from sluice.journal.codec import MOST_BYTES
from sluice.model.keys import PoolKey
from sluice.pools.policy.state import Facts, Learnt, PoolState
from sluice.pools.policy.state_message import StateError
from sluice.pools.publication.record import Ref, ref_of, restored, value_of
from sluice_kit.decide.states import keys

TOPICS = Path(__file__).resolve().parents[5] / "collector/topics.yaml"
SHOP, CART = PoolKey("shop", "server", ""), PoolKey("cart", "client", "db")


def test_names_are_as_the_topic_s_contract_has_them() -> None:
    assert str(Ref("facts", SHOP)) == "facts/shop/server/"
    assert str(Ref("evidence", PoolKey("a/b", "client", "db 1"))) == "evidence/a%2Fb/client/db%201"


@given(keys)
def test_a_name_is_read_as_what_it_names(key: PoolKey) -> None:
    for part in ("facts", "evidence"):
        assert ref_of(str(Ref(part, key))) == Ref(part, key)


@pytest.mark.parametrize("name", ["", "facts", "facts/shop", "facts/shop/both/", "pool/shop/server/", "facts/a/b/c/d"])
def test_other_names_are_an_error(name: str) -> None:
    with pytest.raises(StateError, match="PART/SERVICE/SIDE/PEER"):
        ref_of(name)


def test_what_cannot_be_read_costs_that_part_of_that_pool(caplog: pytest.LogCaptureFixture) -> None:
    state = PoolState(Facts(now_ms=5, current=8), Learnt(until_ms=4))
    records = {str(Ref(p, key)): value_of(Ref(p, key), state) for p in ("facts", "evidence") for key in (SHOP, CART)}
    records[str(Ref("facts", SHOP))] = b"\xff"
    records["who/knows"] = b""
    found = restored(records)
    assert found.unreadable == 2
    assert found.states() == {CART: state, SHOP: PoolState(Facts(now_ms=5), state.learnt)}
    assert "read facts of shop/server" in caplog.text
    assert "'who/knows' is not PART/SERVICE/SIDE/PEER" in caplog.text


def test_many_that_cannot_be_read_are_counted_and_some_are_named(caplog: pytest.LogCaptureFixture) -> None:
    keys = [PoolKey(f"s{number}", "server", "") for number in range(1_000)]
    assert restored({str(Ref("facts", key)): b"\xff" for key in keys}).unreadable == 1_000
    assert len(caplog.records) < 50
    assert "1000 records" in caplog.text


def test_a_record_that_the_topic_would_refuse_is_not_sent() -> None:
    taken = yaml.safe_load(TOPICS.read_text())["topics"]["sluice_state"]["config"]["max.message.bytes"]
    assert min(taken, 1_000_000) > MOST_BYTES  # the latter is what a client sends by itself
    with pytest.raises(StateError, match="bytes are too many"):
        value_of(Ref("evidence", SHOP), PoolState(Facts(), Learnt(version="v" * MOST_BYTES)))
