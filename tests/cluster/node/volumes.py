"""Volumes on the node's disk, made beforehand: the node has nothing that would make one for a claim."""

from pathlib import Path
from typing import Any

from cluster.node.addresses import NAME

_SIZE = "50Gi"


def volumes(folder: Path, name: str, count: int) -> list[dict[str, Any]]:
    """NAME-0 and so on, of no class, for claims that name none. Their size is a label; the disk is the limit."""
    made = []
    for number in range(count):
        place = folder / "volumes" / f"{name}-{number}"
        place.mkdir(parents=True)
        made.append(_volume(place))
    return made


def _volume(place: Path) -> dict[str, Any]:
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NAME]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": place.name},
        "spec": {
            "capacity": {"storage": _SIZE},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": str(place)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        },
    }
