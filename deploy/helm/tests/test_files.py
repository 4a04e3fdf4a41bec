"""The programs' own judgement of the files that the charts render."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

HELM = Path(__file__).parents[1]
REPOSITORY = HELM.parents[1]
BIN = REPOSITORY / ".cache/bin"


def file_of(example: str, name: str, key: str) -> str:
    """A file of a rendered ConfigMap."""
    objects = yaml.safe_load_all((HELM / "examples" / example / "rendered.yaml").read_text())
    (text,) = (
        item["data"][key]
        for item in objects
        if item and item["kind"] == "ConfigMap" and item["metadata"]["name"] == name
    )
    return str(text)


def judge(*words: object, **environment: str) -> None:
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def judge_collector(program: Path, example: str, name: str, folder: Path) -> None:
    config = yaml.safe_load(file_of(example, name, "collector.yaml").replace("/var/lib/sluice", str(folder)))
    if kubelet := config["receivers"].get("kubeletstats"):
        kubelet["auth_type"] = "none"  # the account's token and authority, which the receiver opens, are in pods only
    (folder / "collector.yaml").write_text(yaml.safe_dump(config))
    judge(program, "validate", f"--config={folder / 'collector.yaml'}", K8S_NODE_NAME="node-1", K8S_NODE_IP="10.0.0.1")


def test_the_small_collector_accepts_a_gateway_without_metrics_of_workloads(tmp_path: Path) -> None:
    judge_collector(BIN / "sluice-collector", "hooks", "sluice-collector", tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", ["sluice-collector", "sluice-agent"])
@pytest.mark.parametrize("example", ["default", "demo", "scaled", "operator", "byo-tls", "namespaced"])
def test_the_collector_for_kubernetes_accepts_the_files_of_gateways_and_agents(
    example: str, name: str, tmp_path: Path
) -> None:
    judge_collector(BIN / "sluice-collector-kubernetes", example, name, tmp_path)


@pytest.mark.parametrize("example", ["default", "demo", "scaled"])
def test_the_decider_accepts_its_file(example: str, tmp_path: Path) -> None:
    (tmp_path / "sluice.yaml").write_text(file_of(example, "sluice-decider", "sluice.yaml"))
    source = str(REPOSITORY / "recommender/decide/src")
    judge(sys.executable, "-m", "sluice.decider", "--config", tmp_path / "sluice.yaml", "--check", PYTHONPATH=source)


@pytest.mark.parametrize("example", ["actuator", "actuator-nodes"])
def test_the_actuator_accepts_its_file(example: str, tmp_path: Path) -> None:
    text = file_of(example, "sluice-actuator", "actuator.yaml")
    token = tmp_path / "token"
    token.write_text("secret")
    (tmp_path / "actuator.yaml").write_text(text.replace("/run/secrets/pools/token", str(token)))
    judge(BIN / "sluice-actuator", "--config", tmp_path / "actuator.yaml", "--check", NODE_NAME="node-1")


def test_topics_are_those_of_the_collector_with_the_partitions_of_the_values() -> None:
    declared = yaml.safe_load((REPOSITORY / "collector/topics.yaml").read_text())["topics"]
    default = yaml.safe_load(file_of("default", "sluice-topics", "topics.yaml"))["topics"]
    assert default == declared
    scaled = yaml.safe_load(file_of("scaled", "sluice-topics", "topics.yaml"))["topics"]
    assert {name: topic["partitions"] for name, topic in scaled.items() if topic.get("fixed")} == {
        name: 2 for name, topic in declared.items() if topic.get("fixed")
    }
    assert scaled["otlp_spans"]["partitions"] == 8


def test_sizes_of_messages_are_those_of_the_local_collector() -> None:
    local = yaml.safe_load((REPOSITORY / "collector/config/local.yaml").read_text())
    gateway = yaml.safe_load(file_of("default", "sluice-collector", "collector.yaml"))
    ours, theirs = gateway["exporters"]["kafka"], local["exporters"]["kafka"]
    assert ours["producer"] == theirs["producer"]
    assert ours["sending_queue"]["batch"] == theirs["sending_queue"]["batch"]
    assert gateway["processors"]["span_limit"] == local["processors"]["span_limit"]
