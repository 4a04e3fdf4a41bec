"""The images that the chart names, as archives in one folder: those of `make images`, and stand-ins of the stores."""

import os
from pathlib import Path

from cluster.node.images import import_archive
from stack.layout import CACHE

#: What each archive is called there, without `.tar`.
OWN = tuple(f"sluice-{name}" for name in ("server", "actuator", "collector-kubernetes", "decider", "job", "demo"))
STORES = ("kafka", "clickhouse", "neo4j")


def folder() -> Path:
    """SLUICE_IMAGES, or .cache/images."""
    return Path(os.environ.get("SLUICE_IMAGES", CACHE / "images"))


def missing() -> list[str]:
    return [name for name in (*OWN, *STORES) if not (folder() / f"{name}.tar").exists()]


def import_all(node: Path) -> None:
    """node: the folder of the node."""
    for name in (*OWN, *STORES):
        import_archive(node, folder() / f"{name}.tar")
