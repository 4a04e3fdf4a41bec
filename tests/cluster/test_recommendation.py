"""Spans of the demo's pod become a recommendation, which server and command line give."""

from cluster.queries import Queries
from sluice_kit.waiting import until


def test_a_recommendation_is_served(sluice: Queries) -> None:
    until("cart has a recommendation", lambda: sluice.target("cart") > 0)
    until("catalogue has one", lambda: sluice.target("catalogue") > 0)
    print(sluice.cli("pools", "list"))


def test_doctor_reaches_each_stage_from_the_deciders_pod(sluice: Queries) -> None:
    stages = {stage for stage, _ in sluice.findings()}
    assert {"collector", "kafka", "flink", "clickhouse", "neo4j", "decider", "recommender", "demo"} <= stages
    assert "actuator" not in stages

    def failed() -> list[str]:
        return [one["text"] for one in sluice.findings().values() if one["level"] == "fail"]

    until("no check fails", lambda: not failed())


def test_it_is_recorded_in_clickhouse(sluice: Queries) -> None:
    query = "SELECT count() FROM v_recommendation_history WHERE service = 'cart'"
    until("records wrote it", lambda: sluice.value(query) > 0)
