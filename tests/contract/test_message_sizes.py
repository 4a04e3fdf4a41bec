"""The largest request of a collector is one number, and what the topic takes less what a record takes itself."""

from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
COLLECTOR = REPOSITORY / "collector"
#: Rendered by the chart with its defaults.
RENDERED = REPOSITORY / "deploy/helm/examples/default/rendered.yaml"
CONFIG_MAPS = {"gateway": "sluice-collector", "agent": "sluice-agent"}
#: A record of a batch of its own: 61 bytes of the batch, at most 18 of the record's lengths, times and offsets.
RECORD = 61 + 18


def config(name: str) -> dict[str, Any]:
    """`local`, or a key of CONFIG_MAPS."""
    text = (COLLECTOR / "config/local.yaml").read_text()
    if name != "local":
        (text,) = (
            item["data"]["collector.yaml"]
            for item in yaml.safe_load_all(RENDERED.read_text())
            if item and item["kind"] == "ConfigMap" and item["metadata"]["name"] == CONFIG_MAPS[name]
        )
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def topic(name: str) -> int:
    """name: also the usual value of a variable."""
    name = name.removesuffix("}").rpartition(":-")[2]
    topics = yaml.safe_load((COLLECTOR / "topics.yaml").read_text())["topics"]
    return int(topics[name]["config"]["max.message.bytes"])


@pytest.mark.parametrize("name", ["local", "gateway"])
def test_what_is_sent_fits_the_topics(name: str) -> None:
    exporter = config(name)["exporters"]["kafka"]
    most = exporter["producer"]["max_message_bytes"]
    assert [topic(exporter[signal]["topic"]) for signal in ("traces", "metrics")] == [most, most]
    # No more is kept back than that: what the topic can take is carried.
    assert RECORD <= most - exporter["sending_queue"]["batch"]["max_size"] < 512


@pytest.mark.parametrize("name", ["local", "gateway"])
def test_the_processor_knows_what_is_sent_and_stands_last(name: str) -> None:
    loaded = config(name)
    batch = loaded["exporters"]["kafka"]["sending_queue"]["batch"]
    assert loaded["processors"]["span_limit"]["max_bytes"] == batch["max_size"]
    assert (batch["sizer"], batch["min_size"]) == ("bytes", 0)
    assert loaded["service"]["pipelines"]["traces"]["processors"][-1] == "span_limit"


def test_an_agent_splits_nothing_and_its_gateway_takes_requests_as_large_as_it_does() -> None:
    agent, gateway = config("agent"), config("gateway")
    assert agent["exporters"]["otlp_grpc"]["sending_queue"] == {"enabled": False}
    assert agent["receivers"]["otlp"]["protocols"]["grpc"] == gateway["receivers"]["otlp"]["protocols"]["grpc"]
