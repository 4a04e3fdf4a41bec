"""Which room of the decider may import which: by the syntax of each file, also where an import is within a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src/sluice"
PRODUCTS = {"pools", "subsets", "tuning"}

#: Rooms that know no product: all of ours that they may import.
ALLOWED = {
    "model": {"model"},
    "document": {"document", "model"},
    "fast": {"fast"},
    "clickhouse": {"clickhouse"},
    "journal": {"journal", "model"},
    "engine": {"engine", "journal", "model", "document"},
}
#: What a product may not import, besides the other products.
ABOVE = {"decider", "config", "cli"}


def imported(source: str, path: str) -> set[str]:
    """The rooms that a file imports. path: of the file, relative to the package `sluice`."""
    return {parts[1] for name in _modules(source, path) if (parts := name.split("."))[0] == "sluice" and parts[1:]}


def _modules(source: str, path: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # One dot is the file's folder, each further one a folder above it.
            folder = ["sluice", *Path(path).parent.parts]
            above = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("import_module", "importlib.import_module"):
            yield from (
                word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)
            )


def violations(source: str, path: str) -> set[str]:
    """The rooms that a file imports and may not."""
    room, found = Path(path).parts[0], imported(source, path)
    if room in ALLOWED:
        return found - ALLOWED[room]
    if room in PRODUCTS:
        return found & (ABOVE | PRODUCTS) - {room}
    return set()


@pytest.mark.parametrize("room", sorted({*ALLOWED, *PRODUCTS}))
def test_a_room_imports_what_it_may(room: str) -> None:
    files = {path.relative_to(SOURCE) for path in [*(SOURCE / room).rglob("*.py"), *SOURCE.glob(f"{room}.py")]}
    assert files
    found = {str(path): violations((SOURCE / path).read_text(encoding="utf-8"), str(path)) for path in files}
    assert {path: rooms for path, rooms in found.items() if rooms} == {}


@pytest.mark.parametrize(
    ("path", "source", "room"),
    [
        ("journal/shards.py", "from sluice.decider.products import codec", "decider"),
        ("journal/shards.py", "from sluice.pools.v1.log_pb2 import Report", "pools"),
        ("journal/shards.py", "import sluice.tuning.names as names", "tuning"),
        ("journal/shards.py", "from sluice import subsets", "subsets"),
        ("journal/shards.py", "def f():\n    from ..cli import main", "cli"),
        ("journal/shards.py", "from .. import cli", "cli"),
        ("journal/shards.py", "import importlib\nimportlib.import_module('sluice.pools.codec')", "pools"),
        ("engine/loop.py", "from sluice.pools.product import PoolsProduct", "pools"),
        ("model/keys.py", "from sluice.journal.names import Topics", "journal"),
        ("clickhouse/native.py", "from sluice.model.keys import PoolKey", "model"),
        ("subsets/microns/solve.py", "from sluice.pools.publication.record import Ref", "pools"),
        ("pools/policy/step.py", "from ...decider import process", "decider"),
    ],
)
def test_an_import_that_is_not_allowed_is_found(path: str, source: str, room: str) -> None:
    assert violations(source, path) == {room}


def test_own_modules_and_those_of_others_are_allowed() -> None:
    source = "import json\nfrom . import names\nfrom .shard import Identity\nfrom sluice.model.keys import PoolKey"
    assert violations(source, "journal/shards.py") == set()
