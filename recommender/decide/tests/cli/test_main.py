"""The root command: the version, and addresses."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from sluice.cli import __version__
from sluice.cli.environment import DEFAULTS, addresses, with_scheme

Run = Callable[..., Result]


def test_version_and_unknown_words(run: Run) -> None:
    assert run("--version").stdout == f"sluice, version {__version__}\n"
    assert run("nothing").exit_code == 2
    assert run("pools", "nothing").exit_code == 2


def test_it_runs_as_a_module() -> None:
    source = Path(__file__).resolve().parents[2] / "src"
    environment = os.environ | {"PYTHONPATH": str(source)}
    result = subprocess.run([sys.executable, "-m", "sluice.cli", "--version"], env=environment, capture_output=True)
    assert result.stdout.decode() == f"sluice, version {__version__}\n"


def test_an_unset_or_empty_variable_means_its_default() -> None:
    where = addresses({"SLUICE_KAFKA": "broker:1", "SLUICE_FLINK": ""})
    assert (where.kafka, where.flink) == ("broker:1", DEFAULTS["SLUICE_FLINK"])


def test_with_scheme() -> None:
    assert with_scheme("127.0.0.1:80") == "http://127.0.0.1:80"
    assert with_scheme("https://a/") == "https://a"


def test_a_login_in_a_url_is_neither_used_nor_shown() -> None:
    given = {"SLUICE_CLICKHOUSE": "https://default:p@ss@db.example:8443/x@y", "SLUICE_NEO4J_PASSWORD": "a://b@c"}
    where = addresses(given)
    assert (where.clickhouse, where.neo4j_password) == ("https://db.example:8443/x@y", "a://b@c")


def test_the_defaults_are_the_ports_of_the_local_stack() -> None:

    root = Path(__file__).resolve().parents[4]
    stack = tomllib.loads((root / "deploy/local/stack.toml").read_text())
    ports = stack["ports"]
    expected = {
        "SLUICE_OTLP_GRPC": ports["otlp_grpc"],
        "SLUICE_OTLP_HTTP": ports["otlp_http"],
        "SLUICE_COLLECTOR_HEALTH": ports["collector_health"],
        "SLUICE_COLLECTOR_METRICS": ports["collector_metrics"],
        "SLUICE_KAFKA": ports["kafka"],
        "SLUICE_FLINK": ports["flink_rest"],
        "SLUICE_CLICKHOUSE": ports["clickhouse_http"],
        "SLUICE_NEO4J": ports["neo4j_bolt"],
        "SLUICE_NEO4J_HTTP": ports["neo4j_http"],
        "SLUICE_DECIDER": ports["decider"],
        "SLUICE_RECOMMENDER": ports["recommender"],
        "SLUICE_DEMO": ports["demo"],
        "SLUICE_ACTUATOR": ports["actuator"],
    }
    assert {name: int(DEFAULTS[name].rpartition(":")[2]) for name in expected} == expected
    assert DEFAULTS["SLUICE_NEO4J_PASSWORD"] == stack["secrets"]["neo4j_password"]
