"""`sluice doctor` of the decider and the recommender: against real small servers, and answers judged by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

from grpc_health.v1.health_pb2 import HealthCheckResponse

from sluice.cli.doctor import decider, recommender, subsets
from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.environment import addresses
from sluice.common.v1.decision_pb2 import Reason
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_size_pb2 import STATE_NO_DATA, STATE_PROVIDED, STATE_STALE, PoolSize
from sluice.subsets.v1.explanation_pb2 import Run as SubsetRun
from sluice.subsets.v1.subset_pb2 import STATE_HELD, STATE_LEARNING, Subset, SubsetKey
from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED as SUBSET_PROVIDED

from .http_server import FixedServer
from .pool_server import PoolServer

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_recommender_over_grpc(pool_server: PoolServer) -> None:
    where = addresses({"SLUICE_RECOMMENDER": pool_server.address})
    assert recommender.health(where, 2).level == "ok"
    assert recommender.pools(where, 2).text == "there is no pool"
    pool_server.explanations = [Explanation(pool_size=PoolSize(state=STATE_PROVIDED))]
    pool_server.explanations[0].pool_size.computed_at.GetCurrentTime()
    assert recommender.pools(where, 2).level == "ok"
    pool_server.serve(HealthCheckResponse.NOT_SERVING)
    diagnosis = recommender.health(where, 2)
    assert (diagnosis.level, diagnosis.text.endswith("is NOT_SERVING")) == ("fail", True)


def test_recommender_judgement() -> None:
    def size(state: Any, age_s: float) -> PoolSize:
        made = PoolSize(state=state)
        made.computed_at.FromDatetime(NOW - timedelta(seconds=age_s))
        return made

    ok = recommender.judge_pools([size(STATE_PROVIDED, 9), size(STATE_PROVIDED, 3)], NOW)
    assert (ok.level, ok.text) == ("ok", "2 pools: 2 PROVIDED; newest decision 3 s old")
    assert recommender.judge_pools([size(STATE_PROVIDED, 61)], NOW).level == "warn"
    assert "traffic" in recommender.judge_pools([size(STATE_PROVIDED, 1), size(STATE_NO_DATA, 1)], NOW).remedy
    unseen = size(STATE_NO_DATA, 1)
    unseen.reasons.add(code="NOT_IN_SPANS", text="spans of 10 min show no pet/client/postgres")
    wrong = recommender.judge_pools([size(STATE_PROVIDED, 1), unseen, unseen], NOW)
    assert wrong.text.endswith("old; spans of 10 min show no pet/client/postgres")
    assert "as the spans do" in wrong.remedy
    gone = size(STATE_NO_DATA, 1)
    gone.pool.service = "gone"
    gone.reasons.add(code="NOT_IN_SPANS", text="spans of 10 min show no gone/server")
    assert recommender.judge_pools([size(STATE_PROVIDED, 1), gone], NOW, [gone.pool]).level == "ok"
    assert recommender.judge_pools([size(STATE_STALE, 1)], NOW).level == "warn"
    assert recommender.judge_pools([PoolSize(state=STATE_PROVIDED)], NOW).text.endswith("no decision yet")


def test_subsets_say_what_they_are_made_without() -> None:
    key = SubsetKey(upstream="shop", instance="shop-1", downstream="cart")
    good = Subset(key=key, state=SUBSET_PROVIDED)
    good.computed_at.FromDatetime(NOW - timedelta(seconds=5))
    assert subsets.judge([], [], 0, NOW).level == "ok"
    none = subsets.judge([], [], 1, NOW)
    assert (none.level, "subsets of" in none.remedy) == ("warn", True)
    assert subsets.judge([good], [SubsetRun()], 0, NOW) == Diagnosis(
        "ok", "1 of 1 pair: 1 PROVIDED; the newest is 5 s old"
    )
    pooled = Subset(
        key=key,
        state=STATE_LEARNING,
        reasons=[
            Reason(code="FEW_SAMPLES", text="cart has too few latency samples: the solver compares its containers"),
            Reason(code="NO_ADDRESS", text="no source reports the address of some of these containers"),
        ],
    )
    lacking = ["no cpu utilization of any host: the solver ignores it", "cart: no host of cart-1: each counts"]
    diagnosis = subsets.judge(
        [pooled, good], [SubsetRun(missing=[*lacking, "cart: no address of cart-1: proxies"])], 0, NOW
    )
    assert diagnosis.level == "warn"
    for text in (*lacking, "cart has too few latency samples", "cart: no source reports the address"):
        assert diagnosis.text.count(text) == 1
    for remedy in ("`addresses`", "20 windows", "metrics of these hosts", "`host.name`"):
        assert remedy in diagnosis.remedy
    held_subset = Subset(key=key, state=STATE_HELD, reasons=[Reason(code="HELD", text="a calls itself in a circle")])
    assert "a calls itself in a circle" in subsets.judge([held_subset], [], 0, NOW).text


def test_decider_judgement() -> None:
    def page(**numbers: float) -> dict[str, float]:
        return {f"sluice_decider_{name}": number for name, number in numbers.items()}

    well = page(shards=1, pools=2, newest_period_timestamp_seconds=1_000.0, period_seconds=0.25)
    ok = decider.judge(well, 1_003.0)
    assert (ok.level, ok.text) == ("ok", "2 pools of 1 shard; a period 3.0 s ago took 0.25 s")
    assert decider.judge(well, 1_061.0).level == "fail"
    assert decider.judge(well | page(not_renewed=1), 1_003.0).text.endswith("1 pools without a decision")
    assert decider.judge(page(shards=1, pools=2), 1_003.0).text.endswith("no decision yet")
    assert "no shard" in decider.judge({}, 1_003.0).text


def test_decider_pages() -> None:
    page = "sluice_decider_shards 1.0\nsluice_decider_pools 2.0\n"
    with FixedServer({"/readyz": "ok\n", "/metrics": page}) as server:
        where = addresses({"SLUICE_DECIDER": server.address})
        assert decider.health(where, 2).level == "ok"
        assert "2 pools of 1 shard" in decider.periods(where, 2).text
        server.answers["/readyz"] = (503, "schema: have none, need 0\nkafka: away\n")
        assert decider.health(where, 2).text.endswith("is not ready: schema: have none, need 0; kafka: away")
