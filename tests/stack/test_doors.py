"""Who knocks at the running stack without being asked in is refused."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from sluice_kit.local_stack.driver import REPOSITORY, Stack

PASSWORDS = ("SLUICE_CLICKHOUSE_PASSWORD", "SLUICE_NEO4J_PASSWORD")


def flink(stack: Stack, path: str) -> str:
    return f"{stack.address['SLUICE_FLINK']}{path}"


def test_flink_takes_no_job_from_a_browser(stack: Stack) -> None:
    assert requests.get(flink(stack, "/overview"), timeout=30).ok
    jar = {"jarfile": ("job.jar", b"PK", "application/x-java-archive")}
    assert requests.post(flink(stack, "/jars/upload"), files=jar, timeout=30).status_code in (400, 404, 405)
    assert requests.get(flink(stack, "/jars"), timeout=30).status_code == 404
    features = requests.get(flink(stack, "/config"), timeout=30).json()["features"]
    assert [features[name] for name in ("web-submit", "web-cancel", "web-rescale")] == [False, False, False]


def test_flink_answers_no_other_sites_page(stack: Stack) -> None:
    answer = requests.get(flink(stack, "/overview"), headers={"Origin": "http://elsewhere.example"}, timeout=30)
    assert answer.headers["access-control-allow-origin"] == stack.address["SLUICE_FLINK"]


def test_flink_shows_no_password(stack: Stack) -> None:
    jobs = [job["jid"] for job in requests.get(flink(stack, "/jobs/overview"), timeout=30).json()["jobs"]]
    pages = [f"/jobs/{job}{page}" for job in jobs for page in ("", "/config", "/plan")]
    assert pages
    pages += ["/jobmanager/config", "/jobmanager/environment"]
    for path in pages:
        shown = requests.get(flink(stack, path), timeout=30)
        assert shown.ok, path
        assert not [name for name in PASSWORDS if stack.address[name] in shown.text], path


@pytest.mark.parametrize("user", ["", "default", "sluice_writer"])
def test_clickhouse_without_a_password_does_nothing(stack: Stack, user: str) -> None:
    parameters = {"user": user} if user else {}
    answer = requests.post(stack.address["SLUICE_CLICKHOUSE"], params=parameters, data="SELECT 1", timeout=30)
    assert not answer.ok
    assert "DB::Exception" in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM system.users",
        "SELECT * FROM system.processes",
        "SELECT file('/etc/hostname')",
        "SELECT * FROM url('http://127.0.0.1:1/', LineAsString)",
        "INSERT INTO windows (service) VALUES ('x')",
        "SELECT 1 SETTINGS max_execution_time = 600",
    ],
)
def test_the_reader_is_refused(stack: Stack, query: str) -> None:
    parameters = {"user": "sluice_reader", "database": "sluice"}
    answer = requests.post(stack.address["SLUICE_CLICKHOUSE"], params=parameters, data=query, timeout=30)
    assert not answer.ok
    assert any(word in answer.text for word in ("ACCESS_DENIED", "CANNOT_OPEN_FILE", "CONSTRAINT"))


def test_neo4j_has_another_password_than_the_one_that_everybody_knows(stack: Stack) -> None:
    assert stack.address["SLUICE_NEO4J_PASSWORD"] not in ("", "neo4j", "sluice-local")


def test_only_the_owner_reads_what_holds_secrets(stack: Stack) -> None:
    state = Path(stack.address["SLUICE_STATE"])
    closed = [state / "env", *(state / "secrets").iterdir()]
    closed += [state / "conf" / name for name in ("clickhouse/users.xml", "neo4j/neo4j.conf", "flink/config.yaml")]
    assert {str(path): stat.S_IMODE(path.stat().st_mode) for path in closed} == {str(path): 0o600 for path in closed}
    for path in (state, state / "conf", state / "secrets"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path


def test_no_command_line_and_no_log_has_a_password(stack: Stack) -> None:
    state = Path(stack.address["SLUICE_STATE"])
    secrets = [stack.address[name].encode() for name in PASSWORDS]
    shown = [*Path("/proc").glob("[0-9]*/cmdline"), *(path for path in (state / "logs").rglob("*") if path.is_file())]
    for path in shown:
        try:
            content = path.read_bytes()
        except OSError:  # a process that has ended
            continue
        assert not any(secret in content for secret in secrets), path


def test_the_recommender_does_not_start_where_others_reach_it(stack: Stack) -> None:
    variables = {**stack.programs, "SLUICE_RECOMMENDER": "0.0.0.0:0"}
    server = REPOSITORY / ".cache/bin/sluice-server"
    done = subprocess.run([server], env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "SLUICE_TLS_CERT SLUICE_TLS_KEY SLUICE_TOKENS" in done.stderr


def test_a_decider_s_health_is_for_this_machine_alone(stack: Stack) -> None:
    variables = {
        **stack.programs,
        "SLUICE_HEALTH": "0.0.0.0:0",
        "PYTHONPATH": str(REPOSITORY / "recommender/decide/src"),
    }
    command = [sys.executable, "-m", "sluice.decider", "--config", str(REPOSITORY / "deploy/local/sluice.yaml")]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "SLUICE_HEALTH=0.0.0.0:0 is not legal; legal: an address of loopback" in done.stderr


def test_a_stack_where_others_reach_it_is_refused(tmp_path: Path) -> None:
    overlay = tmp_path / "stack.toml"
    overlay.write_text('host = "0.0.0.0"\n')
    variables = {**os.environ, "SLUICE_STACK": str(overlay), "PYTHONPATH": str(REPOSITORY / "deploy/local")}
    done = subprocess.run(
        [sys.executable, "-m", "stack", "up"],
        env=variables,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "`host` is 0.0.0.0" in done.stdout
    assert "`expose = true`" in done.stdout
