"""`sluice doctor`: what it says of a stack that is down, and of what hangs, breaks or is not there."""

import json
import time
from collections.abc import Callable

import pytest
from click.testing import Result

from sluice.cli.doctor import collector, processes
from sluice.cli.doctor.command import CHECKS
from sluice.cli.doctor.finding import Check, Diagnosis
from sluice.cli.doctor.run import run_checks
from sluice.cli.environment import DEFAULTS, addresses
from sluice_kit.machine.ports import free_ports

from .http_server import FixedServer

Run = Callable[..., Result]


def closed() -> dict[str, str]:
    """Every address on a port of its own that nothing listens on."""
    names = [name for name in DEFAULTS if name != "SLUICE_NEO4J_PASSWORD"]
    return {
        name: f"{DEFAULTS[name].rpartition(':')[0] or '127.0.0.1'}:{port}"
        for name, port in zip(names, free_ports(len(names)), strict=True)
    }


def test_with_everything_down_each_stage_fails_with_its_address_and_a_remedy(run: Run) -> None:
    variables = closed()
    started = time.monotonic()
    # Patient with a busy machine: what is closed says so at once.
    result = run("doctor", "-o", "json", "--timeout", "30", **variables)
    assert time.monotonic() - started < 30
    assert result.exit_code == 1
    findings = json.loads(result.stdout)
    assert [f["stage"] for f in findings] == [check.stage for check in CHECKS]
    first_of = {f["stage"]: f for f in reversed(findings)}
    for stage, variable in {
        "collector": "SLUICE_COLLECTOR_HEALTH",
        "kafka": "SLUICE_KAFKA",
        "flink": "SLUICE_FLINK",
        "clickhouse": "SLUICE_CLICKHOUSE",
        "neo4j": "SLUICE_NEO4J",
        "decider": "SLUICE_DECIDER",
        "recommender": "SLUICE_RECOMMENDER",
        "records": "SLUICE_RECORDS_METRICS",
        "actuator": "SLUICE_ACTUATOR",
    }.items():
        finding = first_of[stage]
        assert finding["level"] == "fail", finding
        assert variables[variable] in finding["text"]
        assert "make up" in finding["remedy"]
    assert first_of["demo"]["level"] == "ok"
    # What lies behind a stage that does not answer is unknown, not failed and not fine.
    assert {
        f["level"]
        for f in findings
        if f["what"]
        in (
            "counters",
            "large spans",
            "spans on the topic",
            "lag",
            "journal readers",
            "stage lags",
            "restarts",
            "newest window",
            "pools",
            "silent services",
            "alarms of pools",
            "subsets",
            "targets",
        )
    } == {"unknown"}


def test_the_table_has_a_line_a_check_and_the_counts(run: Run) -> None:
    result = run("doctor", "--timeout", "30", **closed())
    assert result.exit_code == 1
    assert "-> start it (local stack: `make up`)" in result.stdout
    assert result.stdout.splitlines()[-1] == "5 ok, 10 fail, 27 unknown"


@pytest.mark.parametrize("address", ["nothing", "127.0.0.1:x", "::"])
def test_an_address_that_is_none(address: str, run: Run) -> None:
    result = run("doctor", "-o", "json", **closed() | {"SLUICE_OTLP_GRPC": address, "SLUICE_KAFKA": address})
    by_check = {(f["stage"], f["what"]): f for f in json.loads(result.stdout)}
    assert by_check["collector", "ports"]["level"] == "fail"
    assert "is not HOST:PORT" in by_check["kafka", "topics"]["text"]


def test_stages_that_an_installation_has_not_are_left_out(run: Run) -> None:
    without = dict.fromkeys(("SLUICE_ACTUATOR", "SLUICE_DEMO", "SLUICE_FLINK", "SLUICE_COLLECTOR_HEALTH"), "none")
    findings = json.loads(run("doctor", "-o", "json", "--timeout", "30", **closed() | without).stdout)
    checks = {(f["stage"], f["what"]) for f in findings}
    assert not {"actuator", "demo"} & {stage for stage, _ in checks}
    assert ("flink", "job") not in checks
    assert ("collector", "health") not in checks
    assert ("collector", "ports") in checks
    assert ("neo4j", "call graph") in checks


def test_a_check_that_hangs_or_breaks_is_unknown_and_does_not_hold_up_the_others() -> None:
    def hang(*_: object) -> Diagnosis:
        time.sleep(30)
        return Diagnosis("ok", "")

    def crash(*_: object) -> Diagnosis:
        raise ValueError("no such key")

    checks = [
        Check("a", "hangs", hang),
        Check("b", "breaks", crash),
        Check("c", "works", lambda *_: Diagnosis("ok", "well")),
    ]
    started = time.monotonic()
    findings = run_checks(checks, addresses({}), timeout_s=0.1)
    assert time.monotonic() - started < 15
    assert [finding.level for finding in findings] == ["unknown", "unknown", "ok"]
    assert findings[1].text == "the check itself failed: ValueError: no such key"


def test_a_server_that_does_not_answer_in_time() -> None:
    with FixedServer({"/": None, "/readyz": None}) as server:
        where = addresses({"SLUICE_COLLECTOR_HEALTH": server.address, "SLUICE_ACTUATOR": server.url})
        assert "did not answer within 0.2 s" in collector.health(where, 0.2).text
        assert processes.actuator(where, 0.2).level == "fail"


def test_actuator_and_demo() -> None:
    with FixedServer({"/readyz": "ok", "/healthz": "ok"}) as server:
        where = addresses({"SLUICE_ACTUATOR": server.url, "SLUICE_DEMO": server.url})
        assert processes.actuator(where, 2).level == "ok"
        assert processes.demo(where, 2).level == "ok"
        server.answers |= {"/readyz": (503, "draining"), "/healthz": (503, "")}
        assert "draining" in processes.actuator(where, 2).text
        assert processes.demo(where, 2).level == "warn"
