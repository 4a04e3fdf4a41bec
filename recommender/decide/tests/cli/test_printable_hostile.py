"""Names that no honest sender of spans has, in every form that the command line prints."""

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.cli.output import print_items
from sluice.cli.printable import printable, printable_json
from sluice.cli.table import Column, lines
from sluice.model.keys import PoolKey
from sluice.pools.names import pool_name, pool_of
from sluice_kit.hostile import texts


@given(texts())
def test_no_name_moves_the_cursor_or_breaks_the_line(name: str) -> None:
    assert printable(name).isprintable()
    shown = printable_json(json.dumps({"name": name}, ensure_ascii=False))
    assert shown.isprintable()
    assert json.loads(shown) == {"name": name}


@given(st.lists(st.tuples(texts(), texts()), max_size=4))
def test_no_name_in_a_table_adds_a_line(rows: list[tuple[str, str]]) -> None:
    shown = lines((Column("NAME"), Column("PEER", fold=True)), rows)
    assert len(shown) == 1 + len(rows)
    assert all(line.isprintable() for line in shown)


@pytest.mark.parametrize("form", ["json", "yaml", "jsonl"])
@given(name=texts())
@settings(max_examples=50)
def test_every_form_gives_the_name_back(form: str, name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        out: list[str] = []
        patch.setattr("sys.stdout.write", lambda text: out.append(text) or len(text))
        print_items([{"name": name}], form)
    text = "".join(out)
    assert text.replace("\n", "").isprintable()
    assert (
        yaml.safe_load(text) if form == "yaml" else [json.loads(text)] if form == "jsonl" else json.loads(text)
    ) == [{"name": name}]


# Without a service or a callee there is no pool.
@given(st.tuples(texts().filter(bool), texts().filter(bool)))
def test_a_name_stays_within_its_part_of_a_key_of_the_journal(names: tuple[str, str]) -> None:
    key = pool_name(PoolKey(names[0], "client", names[1]))
    assert key.count("/") == 3
    assert key.isascii()
    assert key.isprintable()
    assert pool_of(key) == PoolKey(names[0], "client", names[1])
