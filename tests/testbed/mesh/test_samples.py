"""Samples say what was seen of a container: its rate, its host, and the logarithms of its own times."""

import math

import pytest

from testbed.mesh.meshes import all_to_all, made
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import Deployment, deploy
from testbed.mesh.published import rocksteady
from testbed.mesh.run import MeshRun
from testbed.mesh.samples import COLUMNS, between, measured, profiled, text

CALLS = {"service": "a", "stages": [[{"service": "b"}]]}


def window(natures, seconds=300.0, **more):
    application = made({"a": 1, "b": 1}, {"read": (1.0, CALLS)}, natures, **more)
    run = MeshRun(application, all_to_all(application), 1)
    run.until(10.0)
    before = run.counters()
    run.until(10.0 + seconds)
    return run, before, run.counters()


def test_mu_and_sigma_of_a_lone_container_are_those_of_its_work_and_hosts_are_measured_with_us():
    """1 ms at 0.1 cores: a median of 10 / sqrt(1.25) ms, sigma sqrt(ln 1.25); a's own times do not hold b's."""
    run, before, after = window({"a": {"work_ms": 1.0}, "b": {"work_ms": 0.1}}, hosts=[0.0])
    a, b = between(before, after, run.fleet)
    assert (a.service, a.container, a.rate_per_s) == ("a", "a-0", pytest.approx(1.0, abs=0.15))
    assert a.mu == pytest.approx(math.log(10.0 / math.sqrt(1.25)), abs=0.1)
    assert a.sigma == pytest.approx(math.sqrt(math.log(1.25)), abs=0.06)
    assert b.mu == pytest.approx(a.mu - math.log(10.0), abs=0.1)
    whole = between(before, after, run.fleet, whole=True)[0]
    assert whole.mu == pytest.approx(math.log(math.exp(a.mu) + math.exp(b.mu)), abs=0.05)
    assert measured(run, before, after)["h0"].cpu == pytest.approx(a.rate_per_s * 0.0011 / 48, rel=0.1)
    assert a.utilization[1:] == (0.0, 0.0)


def test_too_few_visits_make_no_sample():
    run, before, after = window({}, seconds=5.0)
    assert between(before, after, run.fleet) == []


def test_profiles_cover_contention_and_load_and_are_the_csv_that_solvers_read():
    application = deploy(SHAPES["hotel"], Deployment(32))
    result = profiled(application, rocksteady(application), 1, combinations=3, windows_each=1)
    assert {sample.service for sample in result} == {service.name for service in application.services}
    assert {sample.utilization[1] for sample in result if sample.service == "profile"} != {0.0}
    lines = text(result).splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert len(lines) == len(result) + 1
    assert profiled(application, rocksteady(application), 1, combinations=3, windows_each=1) == result
