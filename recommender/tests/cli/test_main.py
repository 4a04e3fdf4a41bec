"""The root command: help everywhere, the version, and addresses."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from sluice.cli import __version__
from sluice.cli.environment import DEFAULTS, addresses, with_scheme

Run = Callable[..., Result]
COMMANDS = [
    "",
    "pools",
    "pools list",
    "pools get",
    "pools explain",
    "replay",
    "critical-path",
    "critical-service",
    "sql",
    "doctor",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_with_examples(run: Run, command: str) -> None:
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    assert f"Usage: sluice {command}".rstrip() in result.stdout
    if command != "pools":
        assert "Examples:" in result.stdout
        assert "    sluice " in result.stdout


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
    found = addresses({"SLUICE_KAFKA": "broker:1", "SLUICE_FLINK": ""})
    assert (found.kafka, found.flink) == ("broker:1", DEFAULTS["SLUICE_FLINK"])


def test_with_scheme() -> None:
    assert with_scheme("127.0.0.1:80") == "http://127.0.0.1:80"
    assert with_scheme("https://a/") == "https://a"


def test_the_defaults_are_the_ports_of_the_local_stack() -> None:

    root = Path(__file__).resolve().parents[3]
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
        "SLUICE_RECOMMENDER": ports["recommender"],
        "SLUICE_DEMO": ports["demo"],
        "SLUICE_ACTUATOR": ports["actuator"],
    }
    assert {name: int(DEFAULTS[name].rpartition(":")[2]) for name in expected} == expected
    assert DEFAULTS["SLUICE_NEO4J_PASSWORD"] == stack["secrets"]["neo4j_password"]
