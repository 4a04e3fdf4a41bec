"""Gateway and agent as the chart renders them, with the chart's rights on a real API server, up to a real Kafka.

No kubelet is there: `make test-cluster` shows the receiver of its figures.
"""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from confluent_kafka import Consumer
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.servers.kafka import Kafka
from sluice_kit.servers.kubernetes import Kubernetes, kubernetes
from sluice_kit.waiting import until
from stack.installs import BIN
from stack.settings import REPOSITORY

RENDERED = REPOSITORY / "deploy/helm/examples/default/rendered.yaml"
RIGHTS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Lease")
NODE = "node-0"
CART: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "cart", "namespace": "shop"},
    "spec": {
        "selector": {"matchLabels": {"app": "cart"}},
        "template": {
            "metadata": {"labels": {"app": "cart"}},
            "spec": {"containers": [{"name": "cart", "image": "cart", "resources": {"limits": {"cpu": "500m"}}}]},
        },
    },
}

pytestmark = pytest.mark.timeout(1800)


def rendered() -> list[dict[str, Any]]:
    return [item for item in yaml.safe_load_all(RENDERED.read_text()) if item]


@contextmanager
def collector(cluster: Kubernetes, name: str, folder: Path, gateway: str, broker: Kafka) -> Iterator[list[str]]:
    """Runs the rendered file of `name` as its account; yields where it takes OTLP by gRPC and by HTTP."""
    (text,) = (
        item["data"]["collector.yaml"]
        for item in rendered()
        if item["kind"] == "ConfigMap" and item["metadata"]["name"] == name
    )
    text = text.replace("auth_type: serviceAccount", "auth_type: kubeConfig")
    text = text.replace("/var/lib/sluice", str(folder / "queue"))
    usual = (4317, 4318, 13133, 8888)
    ports = dict(zip(usual, free_ports(len(usual)), strict=True))
    text = re.sub(r"(?:0\.0\.0\.0|127\.0\.0\.1):(\d+)", lambda place: f"127.0.0.1:{ports[int(place[1])]}", text)
    config = yaml.safe_load(text.replace("{host: 0.0.0.0, port: 8888}", f"{{host: 127.0.0.1, port: {ports[8888]}}}"))
    if config["receivers"].pop("kubeletstats", None):
        config["service"]["pipelines"]["metrics"]["receivers"].remove("kubeletstats")
    if kafka := config["exporters"].get("kafka"):
        kafka["brokers"] = [broker.bootstrap]
    if upstream := config["exporters"].get("otlp_grpc"):
        upstream["endpoint"] = gateway
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(config))
    account = cluster.kubeconfig_of(cluster.token("sluice", name), name)
    environment = {"KUBECONFIG": str(account), "K8S_NODE_NAME": NODE}
    command: list[str | Path] = [BIN / "sluice-collector-kubernetes", f"--config={folder / f'{name}.yaml'}"]
    ready = answers(f"http://127.0.0.1:{ports[13133]}")
    with running(name, command, ready, folder / f"{name}.log", 120, environment):
        yield [f"127.0.0.1:{ports[4317]}", f"127.0.0.1:{ports[4318]}"]


def send_span(place: str, pod: str) -> None:
    """A span of the pod with this uid."""
    attributes = [{"key": "k8s.pod.uid", "value": {"stringValue": pod}}]
    span = {"traceId": "01" * 16, "spanId": "02" * 8, "name": "get", "startTimeUnixNano": 1, "endTimeUnixNano": 2}
    body = {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": [span]}]}]}
    requests.post(f"http://{place}/v1/traces", json=body, timeout=30).raise_for_status()


def strings(resource: Any) -> dict[str, str]:
    return {pair.key: pair.value.string_value for pair in resource.attributes}


class Topics:
    """What the topics have: attributes of the spans' resource, and values by metric and its resource's name."""

    def __init__(self, broker: Kafka) -> None:
        for name in ("otlp_spans", "otlp_metrics"):
            broker.topic(name, name)
        self.spans: list[dict[str, str]] = []
        self.metrics: dict[tuple[str, str], float] = {}
        settings = {"bootstrap.servers": broker.bootstrap, "group.id": "test", "auto.offset.reset": "earliest"}
        self._consumer = Consumer(settings)
        self._consumer.subscribe(["otlp_spans", "otlp_metrics"])

    def close(self) -> None:
        self._consumer.close()

    def read(self) -> None:
        for record in self._consumer.consume(100, 0.2):
            value = record.value() or b""
            if record.topic() == "otlp_spans":
                spans = ExportTraceServiceRequest.FromString(value)
                self.spans += [strings(part.resource) for part in spans.resource_spans]
                continue
            for part in ExportMetricsServiceRequest.FromString(value).resource_metrics:
                attributes = strings(part.resource)
                owner = attributes.get("k8s.pod.name") or attributes.get("k8s.node.name", "")
                for metric in (metric for scope in part.scope_metrics for metric in scope.metrics):
                    for point in metric.gauge.data_points:
                        self.metrics[metric.name, owner] = point.as_double or point.as_int


def test_spans_get_their_pod_and_metrics_say_limits_and_what_nodes_have(broker: Kafka, tmp_path: Path) -> None:
    with closing(Topics(broker)) as topics, kubernetes(tmp_path) as cluster:
        cluster.apply(*({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}} for n in ("sluice", "shop")))
        cluster.apply(*(item for item in rendered() if item["kind"] in RIGHTS), CART)
        until("the pod runs", lambda: [pod["status"].get("phase") for pod in pods(cluster)] == ["Running"])
        (pod,) = pods(cluster)
        name = pod["metadata"]["name"]
        with collector(cluster, "sluice-collector", tmp_path, "", broker) as (gateway, _):
            with collector(cluster, "sluice-agent", tmp_path, gateway, broker) as (_, agent):
                send_span(agent, pod["metadata"]["uid"])

                def complete() -> bool:
                    topics.read()
                    wanted = {("system.cpu.utilization", NODE), ("k8s.node.allocatable_cpu", NODE)}
                    return bool(topics.spans) and wanted | {("k8s.container.cpu_limit", name)} <= topics.metrics.keys()

                until("the topics have the span and the metrics", complete)
    (resource,) = topics.spans
    expected = {
        "k8s.pod.name": name,
        "k8s.deployment.name": "cart",
        "k8s.node.name": NODE,
        "k8s.namespace.name": "shop",
    }
    assert expected.items() <= resource.items()
    assert topics.metrics["k8s.node.allocatable_cpu", NODE] == 64.0
    assert topics.metrics["k8s.container.cpu_limit", name] == 0.5
    assert 0 <= topics.metrics["system.cpu.utilization", NODE] <= 1
    logs = "".join((tmp_path / f"{each}.log").read_text() for each in ("sluice-collector", "sluice-agent"))
    assert "forbidden" not in logs


def pods(cluster: Kubernetes) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = cluster.get("pods", "-n", "shop")["items"]
    return items
