"""What commands import: each start pays for it."""

import ast
from pathlib import Path

import pytest

from sluice.pools.v1.evidence_pb2 import Explanation

from .pool_server import PoolServer
from .processes import SOURCE, imported
from .test_doctor import closed

NUMERIC = {"numpy", "scipy", "kneed", "matplotlib"}
CLIENTS = {"grpc", "google", "requests", "neo4j", "confluent_kafka", "clickhouse_connect", "opentelemetry"}
SHOWN = {"rich", "yaml"}


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("pools", "--help"), ("completion", "bash")])
def test_help_imports_click_and_nothing_else_that_is_installed(words: tuple[str, ...]) -> None:
    modules = imported(*words)
    assert {"click", "sluice"} <= modules
    assert not modules & (NUMERIC | CLIENTS | SHOWN)


def test_completing_commands_imports_none_of_them() -> None:
    words = {"COMP_WORDS": "sluice pools ", "COMP_CWORD": "2", "_SLUICE_COMPLETE": "bash_complete"}
    assert not imported(**words) & (NUMERIC | CLIENTS | SHOWN)


def test_pools_list_imports_grpc_only(pool_server: PoolServer) -> None:
    pool_server.explanations = [Explanation()]
    modules = imported("pools", "list", SLUICE_RECOMMENDER=pool_server.address)
    assert {"grpc", "google"} <= modules
    assert not modules & (NUMERIC | SHOWN | CLIENTS - {"grpc", "google"})


def test_sql_imports_an_http_client_only() -> None:
    modules = imported("sql", "SELECT 1", SLUICE_CLICKHOUSE="http://127.0.0.1:1")
    assert "requests" in modules
    assert not modules & (NUMERIC | SHOWN | CLIENTS - {"requests"})


def test_doctor_imports_no_numbers_and_no_slow_driver() -> None:
    modules = imported("doctor", **closed())
    assert {"grpc", "requests"} <= modules
    assert not modules & (NUMERIC | {"rich", "neo4j", "clickhouse_connect"})


def test_slow_libraries_are_imported_where_an_estimate_is_made() -> None:
    """At the top of no module: a new estimator would slow every command that names estimators."""
    for path in sorted((SOURCE / "sluice").rglob("*.py")):
        for statement in ast.parse(path.read_text()).body:
            names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
            if isinstance(statement, ast.ImportFrom) and statement.module:
                names = [statement.module]
            tops = {name.partition(".")[0] for name in names}
            slow = {"scipy", "kneed", "matplotlib", "xgboost", "optuna", "sklearn", "cmaes"}
            assert not tops & slow, f"{path.relative_to(Path(SOURCE))}: {tops}"
