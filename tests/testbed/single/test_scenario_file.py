"""What a scenario file may say, and what each bad one is told."""

import pytest

from testbed.shapes import Held
from testbed.single.reading import ScenarioError, load, parse, write

LEGAL = """\
name: bad
seconds: 60
slo_ms: 250
users: 10
think_s: 1.0
load: [[0, 1.0]]
service: {cores: 2, compute_ms: 5, wait_ms: 5, threads: 8}
"""
BAD: dict[str, tuple[str, list[str]]] = {
    "cliff_cost": ("law: {kind: cliff, at: 5, cost: 1.5}", ["law.cost: 1.5 is not legal; legal: <= 1"]),
    "compute_of_0": (
        "service: {cores: 2, compute_ms: 0, wait_ms: 5, threads: 8}",
        ["service.compute_ms: 0 is not legal; legal: > 0"],
    ),
    "convoy_without_cost": ("law: {kind: convoy, at: 5}", ["law.cost: is missing"]),
    "cores_beside_scaler": (
        "scaler: {lowest: 2, highest: 4, step: 2, every_s: 5}\nevents: [{at_s: 5, cores: 2.0}]",
        ["events[0].cores is legal without a scaler only, which sets the cores itself"],
    ),
    "cores_outside_scaler": (
        "scaler: {lowest: 3, highest: 4, step: 1, every_s: 5}",
        ["service.cores 2 is not legal; legal with this scaler: 3 to 4"],
    ),
    "event_after_the_end": (
        "events: [{at_s: 61, wait: 2.0}]",
        ["events[0].at_s 61 is not legal; legal: 0 to seconds 60"],
    ),
    "factor_of_0": ("events: [{at_s: 5, compute: 0}]", ["events[0].compute: 0 is not legal; legal: > 0"]),
    "hold_without_a_lock": (
        "events: [{at_s: 5, hold: 2.0}]",
        ["events[0].hold is legal with the law convoy only, which has a lock"],
    ),
    "load_backwards": ("load: [[5, 1.0], [2, 0.5]]", ["load: points must rise in time from 0 s, got [5.0, 2.0]"]),
    "load_negative": ("load: [[5, -1.0]]", ["load: shares must lie in 0 to 100"]),
    "load_point_of_three": (
        "load: [[0, 1, 2]]",
        ["load[0]: [0, 1, 2] is not legal; legal: List should have at most 2 items after validation, not 3"],
    ),
    "long_requests_alone": (
        "law: {kind: bimodal, share: 1, factor: 10, cost: 0.02}",
        ["law.share: 1 is not legal; legal: < 1"],
    ),
    "name_a_number": ("name: 5", ["name: 5 is not legal; legal: a valid string"]),
    "no_kind": ("law: {at: 3}", ["law: kind is missing; legal: 'usl', 'cliff', 'convoy', 'pauses', 'bimodal'"]),
    "no_threads": (
        "service: {cores: 2, compute_ms: 5, wait_ms: 5, threads: 0}",
        ["service.threads: 0 is not legal; legal: >= 1"],
    ),
    "no_users": ("users:", ["users: is missing"]),
    "scaler_reversed": (
        "scaler: {lowest: 4, highest: 2, step: 2, every_s: 5}",
        ["scaler: lowest 4 is above highest 2; legal: lowest <= highest"],
    ),
    "slots_without_time": ("dependency: {slots: 5}", ["dependency: ms 0 is not legal with slots; legal: > 0"]),
    "too_many_at_the_peak": (
        "users: 400\nload: [[0, 100]]",
        ["load: 40000 users at the peak are not legal; legal: <= 32768"],
    ),
    "two_problems": ("seconds: -1\nthink_s:", ["seconds: -1 is not legal; legal: > 0", "think_s: is missing"]),
    "unknown_event_key": (
        "events: [{at_s: 5, slow: 3}]",
        ["events[0].slow: unknown key; legal: at_s, compute, wait, hold, cores, slo_ms"],
    ),
    "unknown_key": (
        "user: 3",
        [
            "user: unknown key; legal: name, seconds, warm_up_s, slo_ms, users, think_s, load, service, law, "
            "dependency, scaler, events"
        ],
    ),
    "unknown_kind": (
        "law: {kind: ramp}",
        ["law: {'kind': 'ramp'} is not legal; legal: kind 'usl', 'cliff', 'convoy', 'pauses', 'bimodal'"],
    ),
    "unknown_law_key": (
        "law: {kind: cliff, at: 5, cost: 0.1, steep: 3}",
        ["law.steep: unknown key; legal: kind, at, cost"],
    ),
    "unknown_service_key": (
        "service: {cores: 2, compute_ms: 5, wait_ms: 5, threads: 8, thread: 9}",
        ["service.thread: unknown key; legal: cores, compute_ms, wait_ms, sigma, contention, crosstalk, threads"],
    ),
    "users_of_a_half": ("users: 1.5", ["users: 1.5 is not legal; legal: a valid integer"]),
    "warm_up_too_long": ("warm_up_s: 60", ["warm_up_s 60 is not legal; legal: 0 to under seconds 60"]),
}
"""By name, the keys that differ from LEGAL's (without a value: that are missing), and all problems of that file."""
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


@pytest.mark.parametrize("name", BAD)
def test_an_error_names_each_problem_of_a_file_and_no_other(name, tmp_path):
    changed, problems = BAD[name]
    keys = dict(line.split(":", 1) for line in [*LEGAL.splitlines(), *changed.splitlines()])
    path = tmp_path / "bad.yaml"
    path.write_text("".join(f"{key}:{value}\n" for key, value in keys.items() if value))
    with pytest.raises(ScenarioError) as caught:
        load(path)
    message = str(caught.value)
    for problem in problems:
        assert problem in message
    assert str(path) in message
    assert len(message.splitlines()) == len(problems)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- 1\n", "must be a mapping with the keys name, seconds"),
        ("name: [\n", "parse"),
        ("name: bad\nusers: 10\nusers: 20\n", "key 'users' stands twice"),
    ],
)
def test_what_is_no_mapping_of_keys_is_refused(text, problem):
    with pytest.raises(ScenarioError, match=problem):
        parse(text, "bad.yaml")


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
        "{kind: bimodal, share: 0.1, factor: 10, cost: 0.02}",
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
