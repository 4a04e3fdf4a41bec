"""`make.sh` with a builder that builds nothing and writes down what it was asked for."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from sluice_kit.local_stack.driver import REPOSITORY

MAKE = REPOSITORY / "deploy/images/make.sh"
#: Variables that make.sh reads: a shell that has them set changes no test.
READ = {"VERSION", "REGISTRY", "RELEASE", "CHECK", "BASES", "PULL", "SOURCE_DATE_EPOCH"}


@pytest.fixture
def builder(tmp_path: Path) -> Path:
    """A folder with a `buildah` that appends its arguments to the file `asked`, a line a call."""
    program = tmp_path / "buildah"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    program.chmod(0o755)
    return tmp_path


def made(builder: Path, *names: str, script: Path = MAKE) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in READ}
    environment = {**kept, "PATH": f"{builder}:{os.environ['PATH']}", "BUILDER": "buildah"}
    return subprocess.run([script, *names], env=environment, capture_output=True, text=True, check=False)


def test_the_tag_is_the_version_that_chart_and_compose_ask_for(builder: Path) -> None:
    result = made(builder, "server", "demo")
    assert result.returncode == 0, result.stderr
    chart = (REPOSITORY / "deploy/helm/sluice/Chart.yaml").read_text()
    (version,) = re.findall(r'^appVersion: "?([^"\n]+)"?$', chart, re.MULTILINE)
    server, demo = (builder / "asked").read_text().splitlines()
    assert f"-t docker.io/sluice/server:{version} " in server
    assert f"--build-arg DECIDER=docker.io/sluice/decider:{version} " in demo
    assert f"SLUICE_SERVER_IMAGE=sluice/server:{version}\n" in (REPOSITORY / "deploy/compose/.env").read_text()


def test_without_a_version_it_says_where_one_belongs_and_builds_nothing(builder: Path) -> None:
    checkout = builder / "checkout"
    script = checkout / "deploy/images/make.sh"
    script.parent.mkdir(parents=True)
    script.write_text(MAKE.read_text())
    script.chmod(0o755)
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    result = made(builder, "server", script=script)
    assert result.returncode == 1
    assert 'no version: CHANGELOG.md has no heading like "## 0.1.0"; set VERSION' in result.stderr
    assert not (builder / "asked").exists()


def test_an_image_that_is_none_is_refused_by_name(builder: Path) -> None:
    result = made(builder, "servers")
    assert result.returncode == 1
    assert "no image servers; there are server actuator" in result.stderr
