"""What a scenario file may say, and what each bad one is told."""

from pathlib import Path

import pytest

from testbed.shapes import Held
from testbed.single.reading import ScenarioError, load, parse, write

BAD = sorted((Path(__file__).parent / "bad_scenarios").glob("*.yaml"))
EXAMPLE = """
name: example
seconds: 480
warm_up_s: 10
slo_ms: 250
users: 3500
think_s: 1.65
load: [[0, 0.3], [60, 1.0], [90, 0.3]]
service: {cores: 4, compute_ms: 1.9, wait_ms: 1.2, sigma: 0.5, contention: 0.02, crosstalk: 0.001, threads: 60}
law: {kind: usl}
dependency: {slots: 0, ms: 0}
scaler: {lowest: 2, highest: 4, step: 2, every_s: 5}
events: [{at_s: 160, compute: 1.0, wait: 10.0}]
"""


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_every_bad_file_is_told_what_is_wrong(path):
    """Each file begins with the problems that it must be told, and no others."""
    expected = [line.removeprefix("# error: ") for line in path.read_text().splitlines() if line.startswith("# error:")]
    with pytest.raises(ScenarioError) as caught:
        load(path)
    message = str(caught.value)
    for problem in expected:
        assert problem in message
    assert str(path) in message
    if expected != ["parse"] and "stands twice" not in message:
        assert len(message.splitlines()) == len(expected)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ScenarioError, match=r"read .*absent\.yaml: .*No such file"):
        load(tmp_path / "absent.yaml")


def test_the_example():
    scenario = parse(EXAMPLE, "example")
    assert [scenario.shape(second) for second in (0, 30, 60, 75, 90, 400)] == pytest.approx(
        [0.3, 0.65, 1, 0.65, 0.3, 0.3]
    )
    assert (scenario.law.kind, scenario.cliff, scenario.convoy, scenario.pauses) == ("usl", None, None, None)
    assert scenario.events[0].wait == 10.0
    assert scenario.slo_ms_at(200.0) == 250


def test_what_is_left_out():
    without = [
        line
        for line in EXAMPLE.splitlines()
        if line.split(":")[0] not in ("warm_up_s", "law", "dependency", "scaler", "events")
    ]
    scenario = parse("\n".join(without), "example")
    assert (scenario.warm_up_s, scenario.law.kind, scenario.dependency.slots) == (10, "usl", 0)
    assert (scenario.scaler, scenario.events) == (None, [])


@pytest.mark.parametrize(
    "law",
    [
        "{kind: cliff, at: 20, cost: 0.03}",
        "{kind: convoy, at: 8, cost: 0.4}",
        "{kind: pauses, at: 30, cost: 40}",
        "{kind: usl}",
    ],
)
def test_what_is_written_reads_the_same(law):
    scenario = parse(EXAMPLE.replace("{kind: usl}", law), "example")
    assert parse(write(scenario), "written") == scenario


def test_a_load_is_held_at_both_ends_and_may_step():
    shape = Held([(10, 0.2), (20, 0.4), (20, 1.0), (30, 0.0)])
    assert [shape(second) for second in (0, 10, 15, 19.999, 20, 25, 30, 99)] == pytest.approx(
        [0.2, 0.2, 0.3, 0.4, 1.0, 0.5, 0.0, 0.0], abs=1e-4
    )
