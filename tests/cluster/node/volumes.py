"""Volumes on the node's disk, made beforehand: the node has nothing that would make one for a claim."""

from pathlib import Path
from typing import Any

from cluster.node.addresses import NAME

_SIZE = "50Gi"


def volumes(folder: Path, count: int) -> list[dict[str, Any]]:
    """`count` volumes of no class, for claims that name none. Their size is a label; the disk is the limit."""
    made = []
    for number in range(count):
        place = folder / "volumes" / str(number)
        place.mkdir(parents=True)
        made.append(_volume(f"disk-{number}", place))
    return made


def _volume(name: str, place: Path) -> dict[str, Any]:
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NAME]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": _SIZE},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": str(place)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        },
    }
