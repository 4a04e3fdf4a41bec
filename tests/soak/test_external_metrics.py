"""A HorizontalPodAutoscaler of a real control plane reads what is said of the hardware, from the shipped server."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.model.keys import PoolKey
from sluice.pools.names import message_of, pool_name
from sluice.pools.v1.advice_pb2 import Advice
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, PoolSize
from sluice_kit.journal.shard_log import Log, serving_at
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.kafka import Kafka
from sluice_kit.servers.kubernetes import Kubernetes, kubernetes
from sluice_kit.waiting import until
from stack.settings import REPOSITORY

pytestmark = pytest.mark.timeout(900)

CART = PoolKey("cart", "server", "")
MANIFEST = REPOSITORY / "recommender/serve/kubernetes/external-metrics.yaml"


def say(log: Log, revision: int, kind: Advice.Kind.ValueType | None, replicas: int = 0) -> None:
    now = Timestamp()
    now.GetCurrentTime()
    size = PoolSize(pool=message_of(CART), state=STATE_PROVIDED, revision=revision, computed_at=now)
    if kind is not None:
        size.advice.CopyFrom(Advice(kind=kind, advised_replicas=replicas))
    log.commit(("decisions", pool_name(CART), size), lease_s=600)


def objects(port: int) -> list[dict[str, Any]]:
    """Those of the manifest, with a service that leads to this machine, and the deployment that scales."""
    service, registered, scaler = yaml.safe_load_all(MANIFEST.read_text())
    service["spec"] = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}
    registered["spec"]["service"]["port"] = port
    registered["spec"]["insecureSkipTLSVerify"] = True
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": "shop", "name": "cart"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "cart"}},
            "template": {
                "metadata": {"labels": {"app": "cart"}},
                "spec": {"containers": [{"name": "cart", "image": "cart"}]},
            },
        },
    }
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("sluice", "shop")]
    return [*spaces, service, registered, deployment, scaler]


def replicas(cluster: Kubernetes) -> int:
    return int(cluster.get("deployment", "cart", "-n", "shop")["spec"]["replicas"])


def test_an_autoscaler_does_what_is_said(broker: Kafka, tmp_path: Path) -> None:
    log = Log(broker)
    say(log, 1, Advice.KIND_KEEP, 2)
    with kubernetes(tmp_path) as cluster:
        (port,) = free_ports(1)
        variables = {
            "SLUICE_TLS_CERT": str(cluster.certificate),
            "SLUICE_TLS_KEY": str(cluster.key),
            "SLUICE_EXTERNAL_METRICS": f"127.0.0.1:{port}",
        }
        with serving_at(log, tmp_path, variables):
            cluster.apply(*objects(port))
            path = "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/sluice_pool_advised_replicas"

            def read() -> str:
                try:
                    return cluster.kubectl("get", "--raw", f"{path}?labelSelector=service%3Dcart")
                except AssertionError as cause:
                    return str(cause)  # the API server has not found it yet

            until("the API server passes it on", lambda: '"value":"2"' in read())
            say(log, 2, Advice.KIND_SCALE_OUT, 5)
            until("it has scaled out", lambda: replicas(cluster) == 5)
            say(log, 3, Advice.KIND_KEEP, 5)
            say(log, 4, Advice.KIND_SCALE_IN, 3)
            until("it has scaled in", lambda: replicas(cluster) == 3)
            # Nothing is said any more: what is there stays.
            say(log, 5, None)
            until("there is no value", lambda: '"items":[]' in read())
            time.sleep(5)
            assert replicas(cluster) == 3
