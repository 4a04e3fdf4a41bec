"""Settings: what an overlay may change, and what it is told when it may not."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stack.environment import addresses, supervised
from stack.settings import DEFAULTS, SettingsError, load, merge, parse

ACCESS = {"tls_cert": "cert.pem", "tls_key": "key.pem", "tls_ca": "ca.pem", "tokens": "tokens"}
SAY_SO = (
    "`host` is 10.0.0.5, which others reach: it must be a loopback address, such as 127.0.0.1, or the file says"
    " `expose = true`, and names all of"
)
BASE: dict[str, Any] = {
    "host": "127.0.0.1",
    "expose": False,
    "access": {"tls_cert": "", "tls_key": "", "tls_ca": "", "tokens": ""},
    "state": ".cache/stack",
    "ports": {"kafka": 9092, "demo": 8090},
    "memory": {"kafka": "384m"},
    "flink": {
        "task_slots": 2,
        "parallelism": 1,
        "checkpoint_interval": "5s",
        "state_backend": "rocksdb",
        "taskmanager_java": "",
    },
    "ttl_days": {"windows": 7, "call_edges": 30},
    "jobs": {},
    "config": {},
    "secrets": {"clickhouse_password": "", "neo4j_password": ""},
}


def test_an_overlay_replaces_single_keys_of_a_table() -> None:
    merged = merge(BASE, {"ports": {"kafka": 19092}})
    assert merged["ports"] == {"kafka": 19092, "demo": 8090}
    assert BASE["ports"]["kafka"] == 9092  # the base is not touched


def test_no_port_is_one_that_the_kernel_gives_to_connections() -> None:
    """32768 to 60999 by default, the even ones first: a client of something else may have it when the stack starts."""
    ports = tomllib.loads(DEFAULTS.read_text())["ports"]
    assert {name for name, port in ports.items() if port >= 32768} == {"recommender"}  # 50051, by convention


@pytest.mark.parametrize(
    ("overlay", "said"),
    [
        (
            {"port": {"kafka": 1}},
            "unknown key `port`; known here: access, config, expose, flink, host, jobs, memory, ports, secrets, state",
        ),
        ({"ports": {"kafak": 1}}, "unknown key `ports.kafak`; known here: demo, kafka"),
        ({"jobs": {"idle-ms": "2 s"}}, "`jobs.idle-ms` must be a whole number, not '2 s'"),
        ({"ports": {"kafka": "9092"}}, "`ports.kafka` must be a int, not '9092'"),
        ({"ports": 9092}, "`ports` must be a table, not 9092"),
        ({"ports": {"kafka": 0}}, "`ports.kafka` must be 1 to 65535, not 0"),
        ({"ports": {"kafka": 70000}}, "`ports.kafka` must be 1 to 65535, not 70000"),
        ({"ports": {"kafka": 8090}}, "`ports.demo` and `ports.kafka` are both 8090"),
        ({"memory": {"kafka": "384"}}, "`memory.kafka` must be a size"),
        (
            {"host": "0.0.0.0"},
            "`host` is 0.0.0.0, which others reach: it must be a loopback address, such as 127.0.0.1",
        ),
        ({"host": "10.0.0.5"}, SAY_SO),
        ({"host": "10.0.0.5", "access": ACCESS}, SAY_SO),
        (
            {"host": "10.0.0.5", "expose": True},
            "`host` is 10.0.0.5, which others reach: `access.tls_cert`, `access.tls_key`, `access.tls_ca`, `access.tok",
        ),
        (
            {"host": "10.0.0.5", "expose": True, "access": {**ACCESS, "tokens": ""}},
            "`host` is 10.0.0.5, which others reach: `access.tokens` must name a file",
        ),
        (
            {"host": "10.0.0.5", "expose": True, "access": {**ACCESS, "tls_key": ""}},
            "`host` is 10.0.0.5, which others reach: `access.tls_key` must name a file",
        ),
        ({"host": "myhost", "expose": True}, "`host` must be an IPv4 address, such as 127.0.0.1, not 'myhost'"),
        ({"host": "::", "expose": True}, "`host` must be an IPv4 address"),
        ({"expose": "yes"}, "`expose` must be a bool, not 'yes'"),
        ({"secrets": {"neo4j_password": "seven77"}}, "`secrets.neo4j_password` must be 8 to 128 printable ASCII"),
        ({"secrets": {"clickhouse_password": "it's quoted"}}, "`secrets.clickhouse_password` must be 8 to 128"),
        ({"ttl_days": {"window": 3}}, "unknown key `ttl_days.window`; known here: call_edges, windows"),
        ({"ttl_days": {"windows": 0}}, "`ttl_days.windows` must be 1 to 3650, not 0"),
        ({"ttl_days": {"windows": 3651}}, "`ttl_days.windows` must be 1 to 3650, not 3651"),
        ({"ttl_days": {"windows": "3"}}, "`ttl_days.windows` must be a int, not '3'"),
        ({"flink": {"state_backend": "heap"}}, "`flink.state_backend` must be one of hashmap, rocksdb, not 'heap'"),
        ({"flink": {"taskmanager_java": "-Xss1m\n-Xmx9g"}}, "`flink.taskmanager_java` must be options of Java"),
        ({"flink": {"taskmanager_java": "Xss1m"}}, "`flink.taskmanager_java` must be options of Java"),
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
    """The defaults of the stack are those of the tables; one that a migration makes is added here."""
    folder = DEFAULTS.parents[2] / "storage/clickhouse"
    created = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+).*?\nTTL .*? INTERVAL (\d+) DAY", re.DOTALL)
    texts = [file.read_text() for file in folder.rglob("*.sql")]
    assert {table: int(days) for text in texts for table, days in created.findall(text)} == load({}).ttl_days


def test_days_reach_the_migrator_as_it_reads_them() -> None:
    days = replace(load({}), ttl_days={"windows": 3, "call_edges": 30})
    assert supervised(days, {})["SLUICE_TTL_DAYS"] == "windows=3 call_edges=30"


def test_the_committed_defaults_are_valid() -> None:
    assert load({}).state == (DEFAULTS.parents[2] / ".cache/stack").resolve()


@pytest.mark.parametrize(("host", "reached"), [("0.0.0.0", "127.0.0.1"), ("10.0.0.5", "10.0.0.5")])
def test_only_the_recommender_is_exposed(host: str, reached: str, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("the-first-of-two-tokens\nthe-second\n")
    files = {name: str(tmp_path / file) for name, file in ACCESS.items()}
    stack = parse(tomllib.loads(DEFAULTS.read_text()), {"host": host, "expose": True, "access": files})
    given = supervised(stack, {})
    assert given["SLUICE_LISTEN"] == f"{host}:50051"
    assert given["SLUICE_RECOMMENDER"] == f"{reached}:50051"
    assert (given["SLUICE_TLS_CERT"], given["SLUICE_TOKENS"]) == (files["tls_cert"], files["tokens"])
    assert (given["SLUICE_TLS_CA"], addresses(stack)["SLUICE_TOKEN"]) == (files["tls_ca"], "the-first-of-two-tokens")
    assert given["SLUICE_TOKEN_FILE"] == str(stack.state / "secrets.d/token")
    assert "SLUICE_TOKEN" not in given
    others = {name: value for name, value in given.items() if value.startswith((host, f"http://{host}"))}
    assert set(others) <= {"SLUICE_LISTEN", "SLUICE_RECOMMENDER"}
    assert stack.host == "127.0.0.1"
