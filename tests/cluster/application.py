"""An application in pods: a pool behind the handler of Go programs, and work for cores (programs/application)."""

from typing import Any

IMAGE = "cluster.test/application:1"
PORT, TOKEN = 8080, "0123456789abcdef0123"
NAMESPACE, NAME = "shop", "billing"
LABELS = {"app": NAME}


def manifests(cores: str, replicas: int) -> list[dict[str, Any]]:
    """A Deployment of containers with `cores` each, as Kubernetes writes quantities."""
    container = {
        "name": NAME,
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "args": [f":{PORT}", "/run/secrets/pools/token"],
        "resources": {"requests": {"cpu": cores}, "limits": {"cpu": cores, "memory": "64Mi"}},
        "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
        "volumeMounts": [{"name": "pools", "mountPath": "/run/secrets/pools", "readOnly": True}],
    }
    pod = {
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
        "volumes": [{"name": "pools", "secret": {"secretName": "pools"}}],
    }
    metadata = {"name": NAME, "namespace": NAMESPACE}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS, "annotations": {"sluice.dev/apply": "true"}}, "spec": pod},
    }
    return [token(NAMESPACE), {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}]


def token(namespace: str) -> dict[str, Any]:
    """The Secret with the token of the pool."""
    metadata = {"name": "pools", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"token": TOKEN}}


def autoscaler(most: int) -> dict[str, Any]:
    """Wants half of each pod's CPU request used, by 1 to `most` pods."""
    target = {"type": "Utilization", "averageUtilization": 50}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"namespace": NAMESPACE, "name": NAME},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME},
            "minReplicas": 1,
            "maxReplicas": most,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        },
    }
