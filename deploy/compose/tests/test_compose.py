"""What each service of deploy/compose declares. `make lint` checks the files against the schema of Compose."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

COMPOSE = Path(__file__).resolve().parents[1]
FILES = ("compose.yaml", "compose.demo.yaml", "compose.observability.yaml")
DATABASES = {"kafka", "clickhouse", "neo4j"}
UNPROBED = {"setup", "jaeger"}


def services() -> dict[str, dict[str, Any]]:
    """Where a layer adds to another's service, that service as its own file has it."""
    loaded = [yaml.safe_load((COMPOSE / name).read_text()) for name in reversed(FILES)]
    return {name: service for document in loaded for name, service in document["services"].items()}


def versions() -> dict[str, str]:
    lines = [line for line in (COMPOSE / ".env").read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


@pytest.mark.parametrize("name", services())
def test_a_service_is_bounded(name: str) -> None:
    service = services()[name]
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert service["logging"]["options"] == {"max-size": "10m", "max-file": "3"}
    probed = service.get("healthcheck", {"disable": True}) != {"disable": True}
    assert probed != (name in UNPROBED)
    assert service["restart"] == ("on-failure" if name == "setup" else "unless-stopped")


@pytest.mark.parametrize("name", services())
def test_versions_are_in_one_file(name: str) -> None:
    variable = re.fullmatch(r"\$\{([A-Z0-9_]+_IMAGE)\}", services()[name]["image"])
    assert variable is not None
    image = versions()[variable[1]]
    assert image.startswith("sluice/") or re.fullmatch(r"[a-z/0-9-]+:[\w.-]+@sha256:[0-9a-f]{64}", image)


@pytest.mark.parametrize("name", FILES)
def test_every_variable_has_a_value(name: str) -> None:
    lines = [line for line in (COMPOSE / name).read_text().splitlines() if not line.lstrip().startswith("#")]
    used = set(re.findall(r"(?<!\$)\$\{(\w+)\}", "\n".join(lines)))
    assert used <= set(versions())


def test_no_database_is_published_and_every_port_can_be_kept_on_loopback() -> None:
    for name, service in services().items():
        ports = service.get("ports", [])
        assert not (ports and name in DATABASES)
        assert all(re.fullmatch(r"\$\{BIND\}:\$\{[A-Z_]+_PORT\}:\d+", port) for port in ports), name
    assert versions()["BIND"] == "127.0.0.1"


def test_no_password_is_in_an_environment() -> None:
    for name, service in services().items():
        for variable, value in service.get("environment", {}).items():
            secret = re.search("PASSWORD|TOKEN|AUTH", variable)
            assert not secret or str(value).startswith("/run/secrets/"), f"{name}: {variable}"


def test_our_processes_run_with_nothing_they_do_not_need() -> None:
    ours = [service for service in services().values() if service["image"].startswith("${SLUICE_")]
    assert len(ours) == 10
    for service in ours:
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_secrets_are_generated_once_and_kept(tmp_path: Path) -> None:
    script = tmp_path / "secrets.sh"
    script.write_text((COMPOSE / "secrets.sh").read_text())
    contents = []
    for _ in range(2):
        subprocess.run(["sh", script], check=True, capture_output=True)
        contents.append({path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()})
    first, second = contents
    assert first == second
    named = {Path(entry["file"]).name for document in FILES for entry in secrets_of(document).values()}
    assert named | {"clickhouse_users.xml"} == set(first)
    assert first["neo4j_auth"] == f"neo4j/{first['neo4j']}"
    assert first["clickhouse_writer"] != first["clickhouse_reader"]
    assert first["clickhouse_writer"] not in first["clickhouse_users.xml"]
    assert os.stat(tmp_path / "secrets").st_mode & 0o777 == 0o700


def secrets_of(name: str) -> dict[str, dict[str, str]]:
    secrets: dict[str, dict[str, str]] = yaml.safe_load((COMPOSE / name).read_text()).get("secrets", {})
    return secrets
