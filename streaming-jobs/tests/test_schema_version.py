"""The schema's version that the jobs need, on the real engine."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from migrate import migrations
from migrate.__main__ import CLICKHOUSE, schema_up
from sluice_kit.machine.ports import free_ports
from sluice_kit.servers.clickhouse import PASSWORD, WRITER, ClickHouse, clickhouse
from sluice_kit.servers.proxy import proxy
from sluice_kit.servers.secure_kafka import certificates

JOBS = Path(__file__).resolve().parents[1] / "jobs"


@pytest.fixture(autouse=True)
def jobs_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(JOBS), *sys.path])


def test_the_needed_version_is_storage_s_newest() -> None:
    import schema_version

    assert migrations.load(CLICKHOUSE)[-1].version == schema_version.NEEDED


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


@pytest.fixture
def database(engine: ClickHouse, tmp_path: Path) -> Any:
    import settings

    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n")
    return settings.ClickHouse(engine.url, "sluice", WRITER, {"password.file": str(file)}, "", "")


@pytest.mark.integration
def test_what_is_missing_is_named_with_its_remedy(engine: ClickHouse, database: Any) -> None:
    import schema_version

    assert schema_version.missing(database) == f"have none, need {schema_version.NEEDED}; run `sluice-migrate up`"
    schema_up(engine.writer_url, "sluice", 10)
    assert schema_version.missing(database) == ""
    have = schema_version.NEEDED
    assert schema_version.missing(database, needed=have + 1) == f"have {have}, need {have + 1}; run `sluice-migrate up`"
    dead = f"http://127.0.0.1:{free_ports(1)[0]}"
    assert schema_version.missing(replace(database, url=f"{dead},{engine.url}")) == ""
    assert schema_version.missing(replace(database, url=dead)).startswith(f"ask ClickHouse: {dead}: ")
    assert "invalid" in schema_version.missing(replace(database, url="http://clickhouse.invalid:8123"))
    none = "with no password (SLUICE_CLICKHOUSE_PASSWORD_FILE): Code: 516"
    assert f"refuses SLUICE_CLICKHOUSE_USER={WRITER} {none}" in schema_version.missing(replace(database, password={}))
    nowhere = {"password.file": "/nowhere/password"}
    assert "No such file or directory: '/nowhere/password'" in schema_version.missing(
        replace(database, password=nowhere)
    )


@pytest.mark.integration
def test_the_setting_that_keeps_out_is_named(engine: ClickHouse, database: Any, tmp_path: Path) -> None:
    import schema_version

    file = Path(database.password["password.file"])
    file.write_text("wrong\n")
    wrong = f"{database.url}: refuses SLUICE_CLICKHOUSE_USER={WRITER} with the password of {file}: Code: 516"
    assert wrong in schema_version.missing(database)
    certificates(tmp_path)
    with proxy(engine.http_port, certificates=tmp_path) as port:
        url = f"https://127.0.0.1:{port}"
        untrusted = replace(database, url=url)
        assert f"{url}: TLS fails, SLUICE_CLICKHOUSE_CA is not set: " in schema_version.missing(untrusted)
        nowhere = replace(untrusted, authority="/nowhere/ca.pem")
        assert f"{url}: SLUICE_CLICKHOUSE_CA=/nowhere/ca.pem: [Errno 2]" in schema_version.missing(nowhere)


def test_a_wait_says_its_cause_every_30_s() -> None:
    import schema_version

    now, lines, answers = 0.0, list[str](), [*["have none"] * 17, ""]

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    schema_version.wait(lambda: answers.pop(0), lines.append, lambda: now, sleep)
    # 17 looks, from 0 to 32 s.
    assert lines == ["waiting for the schema: have none"] * 2
