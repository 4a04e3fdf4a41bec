"""deploy/compose on a real Docker daemon: from `up` to a recommendation, kills, down and up again, sizes applied."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import archives, docker
from sluice_kit.waiting import until
from stack.settings import REPOSITORY

#: What an archive is called, for the images that Compose runs.
IMAGES = ("sluice-server", "sluice-actuator", "sluice-collector", "sluice-decider", "sluice-job", "sluice-demo")
KILLED = ("kafka", "clickhouse", "neo4j", "collector", "flink-jobmanager", "flink-taskmanager", "decider", "server")


@pytest.fixture(scope="module")
def compose(tmp_path_factory: pytest.TempPathFactory) -> Iterator[docker.Compose]:
    """The demo's layer, up, with a recommendation."""
    if lacking := docker.missing():
        pytest.skip("Compose does not run here; missing " + "; ".join(lacking))
    needed = [*IMAGES, *archives.STORES]
    if absent := [name for name in needed if not (archives.folder() / f"{name}.tar").exists()]:
        pytest.skip(f"no archives of {', '.join(absent)} in {archives.folder()}")
    deploy = tmp_path_factory.mktemp("compose") / "deploy"
    for part in ("deploy/compose", "deploy/local/actuator.yaml", "collector/config"):
        source, target = REPOSITORY / part, deploy.parent / part
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copyfile(source, target)
    folder = deploy / "compose"
    subprocess.run([folder / "secrets.sh"], check=True, capture_output=True)
    with docker.daemon() as address:
        project = docker.Compose(address, folder, undigested(folder / ".env"))
        for name in needed:
            project.load(archives.folder() / f"{name}.tar")
        began = time.monotonic()
        project.run("up", "-d")
        until("a recommendation", lambda: project.healthy("recommendation"))
        print(f"\nrecommendation healthy {time.monotonic() - began:.0f} s after `up -d`")
        yield project
        project.run("down", "-v", "--timeout", "60")


def undigested(file: Path) -> dict[str, str]:
    """Stand-ins have the official tags, and other digests."""
    lines = [line for line in file.read_text().splitlines() if "=" in line and not line.startswith("#")]
    return {name: value.partition("@sha256:")[0] for name, value in (line.split("=", 1) for line in lines)}


def completions(project: docker.Compose, until_s: int) -> int:
    """Of cart, in all windows before that time (Unix, s)."""
    return number(
        project, f"SELECT sum(completions) FROM v_windows WHERE service = 'cart' AND bucket < toDateTime({until_s})"
    )


def newest_s(project: docker.Compose) -> int:
    """Of cart's windows (Unix, s)."""
    return number(project, "SELECT toUnixTimestamp(max(bucket)) FROM v_windows WHERE service = 'cart'")


def number(project: docker.Compose, query: str) -> int:
    return int(project.run("exec", "-T", "decider", "sluice", "sql", "-o", "csv", query).split()[-1])


def test_each_stage_is_well(compose: docker.Compose) -> None:
    def failed() -> list[str]:
        words = ("exec", "-T", "decider", "sh", "-c", "sluice doctor -o json --timeout 20 || true")
        findings = json.loads(compose.run(*words))
        assert {"collector", "kafka", "flink", "clickhouse", "neo4j", "decider", "recommender", "actuator", "demo"} <= {
            finding["stage"] for finding in findings
        }
        return [f"{one['stage']} {one['what']}: {one['text']}" for one in findings if one["level"] == "fail"]

    until("no check fails", lambda: not failed())


@pytest.mark.parametrize("service", KILLED)
def test_a_killed_container_comes_back(compose: docker.Compose, service: str) -> None:
    """Docker starts it again, and decisions go on."""
    before = compose.states()[service]["State"]["StartedAt"]
    compose.kill(service)
    until(f"{service} to come back", lambda: compose.states()[service]["State"]["StartedAt"] != before)
    until(f"{service} to be healthy", lambda: compose.healthy(service) and compose.healthy("recommendation"))


def test_down_and_up_keep_what_was_known(compose: docker.Compose) -> None:
    """Windows of before are complete once newer ones follow: after the kills, a busy machine is minutes behind."""
    closed_s = int(time.time()) - 30
    until("newer windows", lambda: newest_s(compose) > closed_s + 20)
    before = completions(compose, closed_s)
    compose.run("down", "--timeout", "60")
    compose.run("up", "-d")
    until("a recommendation again", lambda: compose.healthy("recommendation"))
    assert completions(compose, closed_s) == before


def test_sizes_are_applied_where_that_is_asked_for(compose: docker.Compose) -> None:
    def sizes() -> dict[str, int]:
        words = ("exec", "-T", "demo", "python", "-c")
        program = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8090/pools').read().decode())"
        return {pool["name"]: pool["size"] for pool in json.loads(compose.run(*words, program))["pools"]}

    before = sizes()
    compose.run("up", "-d", SLUICE_ACTUATOR_FLAGS="--apply all")
    until("another size", lambda: sizes() != before)
