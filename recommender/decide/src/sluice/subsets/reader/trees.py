"""Reads call trees from the text in which the streaming job writes them."""

from __future__ import annotations

import json
from typing import Any

from sluice.subsets.application import Call


def call_of(text: str) -> Call | None:
    """The call tree in a text. None for one that was cut for its size, or that is too deep to parse."""
    try:
        document = json.loads(text)
        return None if document.get("cut") else _call(document)
    except RecursionError:
        return None


def _call(node: dict[str, Any]) -> Call:
    stages = tuple(tuple(_call(callee) for callee in stage) for stage in node.get("stages", ()))
    return Call(node["service"], stages)
