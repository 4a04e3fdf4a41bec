"""Control characters in names, and the forms that they are printed in."""

import json
from collections.abc import Callable

import pytest
import yaml
from click.testing import Result

from sluice.cli.output import print_item, print_items
from sluice.cli.printable import printable, printable_json
from sluice.cli.table import Column, lines
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import PoolSize

from .pool_server import PoolServer

Run = Callable[..., Result]
#: Clears the screen, by ESC and by the one-character CSI; rings; breaks the line; writes from right to left.
HOSTILE = "a\x1b[2J\x9b2J\a\r\nb\u202egnp.exe"


def test_printable() -> None:
    assert printable("cart/ü-工 'x' \\d") == "cart/ü-工 'x' \\d"
    assert printable(HOSTILE) == r"a\x1b[2J\x9b2J\x07\r\nb\u202egnp.exe"
    assert printable("\x7f\u2028\U000e0001") == r"\x7f\u2028\U000e0001"


def test_printable_json_means_the_same() -> None:
    text = json.dumps({"s": HOSTILE + "\x7f\U000e0001 ü"}, ensure_ascii=False, indent=2)
    shown = printable_json(text)
    assert json.loads(shown) == json.loads(text)
    assert shown.replace("\n", "").isprintable()
    assert "ü" in shown


@pytest.mark.parametrize("form", ["json", "yaml", "jsonl"])
@pytest.mark.parametrize("items", [[], [{"name": HOSTILE, "n": 1, "none": None}, {"name": "ü: x", "l": [1.5]}]])
def test_items_in_every_form(form: str, items: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    print_items(items, form)
    out = capsys.readouterr().out
    read = {"json": json.loads, "yaml": yaml.safe_load, "jsonl": lambda text: [*map(json.loads, text.splitlines())]}
    assert read[form](out) == items
    assert out.replace("\n", "").isprintable()
    assert "\\xFC" not in out


def test_json_of_items_is_that_of_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    items = [{"a": 1, "b": {"c": [1, 2]}}, {"a": "x\ny"}]
    print_items(items, "json")
    assert capsys.readouterr().out == json.dumps(items, indent=2) + "\n"
    print_items([{"a": 1}, {"a": 2}], "json", row_a_line=True)
    assert capsys.readouterr().out == '[\n  {"a": 1},\n  {"a": 2}\n]\n'


def test_an_item_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("json", "yaml", "jsonl"):
        print_item({"a": 1, "b": None}, form)
    assert capsys.readouterr().out == '{\n  "a": 1,\n  "b": null\n}\na: 1\nb: null\n{"a": 1, "b": null}\n'


def test_a_table_in_a_pipe_is_as_wide_as_its_cells() -> None:
    columns = (Column("NAME"), Column("N", right=True), Column("TEXT", fold=True))
    long = "word " * 100
    assert lines(columns, [("a", "1", long), ("longer", "10", "x\n-> y")]) == [
        "NAME     N  TEXT",
        "a        1  " + long.rstrip(),
        "longer  10  x -> y",
    ]
    assert lines(columns, []) == ["NAME  N  TEXT"]


@pytest.mark.parametrize("words", [("list",), *((name, "--side", "server", HOSTILE) for name in ("get", "explain"))])
@pytest.mark.parametrize("form", ["table", "json", "yaml", "jsonl"])
def test_a_service_cannot_write_to_the_terminal(
    run: Run, pool_server: PoolServer, words: tuple[str, ...], form: str
) -> None:
    pool = Pool(service=HOSTILE, side=SIDE_SERVER)
    pool_server.explanations = [Explanation(pool_size=PoolSize(pool=pool))]
    result = run("pools", *words, "-o", form, SLUICE_RECOMMENDER=pool_server.address)
    assert result.exit_code == 0, result.output
    assert result.stdout.replace("\n", "").isprintable()
    assert "2J" in result.stdout


def test_nor_by_an_error(run: Run, pool_server: PoolServer) -> None:
    result = run("pools", "get", HOSTILE, "--side", "server", SLUICE_RECOMMENDER=pool_server.address)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.rstrip("\n").isprintable()
