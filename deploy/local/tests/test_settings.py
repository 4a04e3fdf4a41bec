"""Settings: what an overlay may change, and what it is told when it may not."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stack.environment import supervised
from stack.settings import DEFAULTS, SettingsError, load, merge, parse

BASE: dict[str, Any] = {
    "host": "127.0.0.1",
    "state": ".cache/stack",
    "ports": {"kafka": 9092, "demo": 8090},
    "memory": {"kafka": "384m"},
    "flink": {"task_slots": 2, "parallelism": 1, "checkpoint_interval": "5s", "state_backend": "rocksdb"},
    "ttl_days": {"windows": 7, "call_edges": 30},
    "jobs": {},
    "config": {},
    "secrets": {"clickhouse_password": "", "neo4j_password": ""},
}


def test_an_overlay_replaces_single_keys_of_a_table() -> None:
    merged = merge(BASE, {"ports": {"kafka": 19092}})
    assert merged["ports"] == {"kafka": 19092, "demo": 8090}
    assert BASE["ports"]["kafka"] == 9092  # the base is not touched


@pytest.mark.parametrize(
    ("overlay", "said"),
    [
        (
            {"port": {"kafka": 1}},
            "unknown key `port`; known here: config, flink, host, jobs, memory, ports, secrets, state, ttl_days",
        ),
        ({"ports": {"kafak": 1}}, "unknown key `ports.kafak`; known here: demo, kafka"),
        ({"jobs": {"idle-ms": "2 s"}}, "`jobs.idle-ms` must be a whole number, not '2 s'"),
        ({"ports": {"kafka": "9092"}}, "`ports.kafka` must be a int, not '9092'"),
        ({"ports": 9092}, "`ports` must be a table, not 9092"),
        ({"ports": {"kafka": 0}}, "`ports.kafka` must be 1 to 65535, not 0"),
        ({"ports": {"kafka": 70000}}, "`ports.kafka` must be 1 to 65535, not 70000"),
        ({"ports": {"kafka": 8090}}, "`ports.demo` and `ports.kafka` are both 8090"),
        ({"memory": {"kafka": "384"}}, "`memory.kafka` must be a size"),
        ({"secrets": {"neo4j_password": "seven77"}}, "`secrets.neo4j_password` must be 8 to 128 printable ASCII"),
        ({"secrets": {"clickhouse_password": "it's quoted"}}, "`secrets.clickhouse_password` must be 8 to 128"),
        ({"ttl_days": {"window": 3}}, "unknown key `ttl_days.window`; known here: call_edges, windows"),
        ({"ttl_days": {"windows": 0}}, "`ttl_days.windows` must be 1 to 3650, not 0"),
        ({"ttl_days": {"windows": 3651}}, "`ttl_days.windows` must be 1 to 3650, not 3651"),
        ({"ttl_days": {"windows": "3"}}, "`ttl_days.windows` must be a int, not '3'"),
        ({"flink": {"state_backend": "heap"}}, "`flink.state_backend` must be one of hashmap, rocksdb, not 'heap'"),
        ({"flink": {"task_slots": 0}}, "`flink.task_slots` must be 1 or more, not 0"),
    ],
)
def test_a_bad_overlay_is_told_the_key_and_the_legal_values(overlay: dict[str, object], said: str) -> None:
    with pytest.raises(SettingsError, match="^" + said.replace(".", r"\.").replace("(", r"\(")):
        parse(BASE, overlay)


def test_the_overlay_of_the_environment_is_read_and_named_in_errors(tmp_path: Path) -> None:
    overlay = tmp_path / "mine.toml"
    overlay.write_text(f'state = "{tmp_path}/state"\n[ports]\nkafka = 19092\n')
    settings = load({"SLUICE_STACK": str(overlay)})
    assert settings.address("kafka") == "127.0.0.1:19092"
    assert settings.state == tmp_path / "state"
    assert settings.overlay == overlay

    overlay.write_text("colour = 1\n")
    with pytest.raises(SettingsError, match=r"cannot read SLUICE_STACK=.*mine\.toml: unknown key `colour`"):
        load({"SLUICE_STACK": str(overlay)})


def test_every_table_that_forgets_has_its_days_here() -> None:
    """The defaults of the stack are those of the migrations; a table that one adds is added here."""
    folder = DEFAULTS.parents[2] / "storage/clickhouse/migrations"
    created = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+).*?\nTTL .*? INTERVAL (\d+) DAY", re.DOTALL)
    found = [pair for file in folder.glob("*.sql") for pair in created.findall(file.read_text())]
    assert {table: int(days) for table, days in found} == load({}).ttl_days


def test_days_reach_the_migrator_as_it_reads_them() -> None:
    days = replace(load({}), ttl_days={"windows": 3, "call_edges": 30})
    assert supervised(days, {})["SLUICE_TTL_DAYS"] == "windows=3 call_edges=30"


def test_the_committed_defaults_are_valid() -> None:
    assert load({}).state == (DEFAULTS.parents[2] / ".cache/stack").resolve()
