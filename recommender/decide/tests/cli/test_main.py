"""The root command: help everywhere, the version, and addresses."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from sluice.cli import __version__
from sluice.cli.environment import DEFAULTS, addresses, with_scheme
from sluice.cli.lazy import LazyGroup
from sluice.cli.main import COMMANDS as COMMANDS_OF_ROOT
from sluice.cli.main import cli
from sluice.cli.output import EXIT_CODES
from sluice.cli.pools.group import COMMANDS as COMMANDS_OF_POOLS
from sluice.cli.pools.group import pools

Run = Callable[..., Result]
COMMANDS = [*COMMANDS_OF_ROOT, *(f"pools {name}" for name in COMMANDS_OF_POOLS)]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_with_examples_and_exit_codes(run: Run, command: str) -> None:
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    assert f"Usage: sluice {command}".rstrip() in result.stdout
    assert EXIT_CODES in " ".join(result.stdout.split())
    if command != "pools":
        assert "Example" in result.stdout
        assert "    sluice " in result.stdout.replace("./sluice", "sluice")


@pytest.mark.parametrize("group", [cli, pools], ids=["sluice", "pools"])
def test_a_command_that_is_not_loaded_yet_is_listed_with_its_own_short_help(group: LazyGroup) -> None:
    context = click.Context(group)
    for name, lazy in group.lazy.items():
        command = group.get_command(context, name)
        assert command is not None
        assert command.name == name
        # One sentence, whole.
        assert lazy.short_help == command.get_short_help_str(1000).partition(". ")[0].rstrip(".") + "."


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
