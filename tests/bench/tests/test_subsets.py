"""The benches of connection subsets: files in and out, and that every strategy can be judged."""

import json

import pytest

from bench.subsets import cells, files, static
from bench.subsets.strategies import FULL, MICRONS, RIVALS, strategy
from sluice.subsets.document.application import read_application
from sluice.subsets.document.samples import read_samples
from sluice.subsets.document.solution import solution_object
from sluice.subsets.strategy_result import answer
from testbed.mesh import application as applications
from testbed.mesh.judged import judge
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import Deployment, deploy
from testbed.mesh.solution import Solution

SMALL = Deployment(32, 0.4)


def test_an_application_and_solutions_from_files(tmp_path, capsys):
    app = tmp_path / "app.json"
    files.main(["make", "--shape", "hotel", "--containers", "96", "--difference", "0.4", "--to", str(app)])
    application = applications.load(app)
    assert max(host.cpu for host in application.hosts) > 0.3
    solutions = []
    for name in ("sre", FULL):
        solution = strategy(name)(application.public())
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(solution.model_dump(by_alias=True)))
        solutions.append(str(path))
    judged = ["judge", "--app", str(app), "--requests", "500", *solutions]
    files.main(judged)
    table = capsys.readouterr().out.splitlines()
    assert [line.split("|")[1:3] for line in table[2:4]] == [[" sre (sre) ", " all "], [" sre (sre) ", " search "]]
    files.main([*judged, "-o", "json", "--seeds", "1,2"])
    found = json.loads(capsys.readouterr().out)
    assert [len(runs) for runs in found.values()] == [2, 2]
    assert found["full (full)"][0]["connections"] > found["sre (sre)"][0]["connections"]
    assert {"upstream", "downstream", "p95_ms"} == set(found["full (full)"][0]["pair_ms"][0])


def test_what_is_wrong_with_a_file_is_said(tmp_path):
    app, bad = tmp_path / "app.json", tmp_path / "bad.json"
    files.main(["make", "--shape", "hotel", "--containers", "15", "--difference", "0", "--to", str(app)])
    bad.write_text('{"pairs": []}')
    with pytest.raises(
        SystemExit, match=r"bad\.json: container frontend-0 has no connection to search, which it calls"
    ):
        files.main(["judge", "--app", str(app), str(bad)])
    with pytest.raises(SystemExit, match="14 containers for 15 services"):
        files.main(["make", "--shape", "hotel", "--containers", "14", "--to", str(app)])
    with pytest.raises(SystemExit, match="No such file"):
        files.main(["judge", "--app", str(tmp_path / "none.json"), str(bad)])


@pytest.mark.parametrize("name", [*RIVALS, FULL, MICRONS])
def test_every_strategy_connects_an_application_that_can_be_judged(name):
    application = deploy(SHAPES["hotel"], SMALL)
    judged = judge(application, strategy(name)(application.public()), 1, 500)
    assert judged.failed == 0
    assert judged.requests > 300


def test_bars_are_read_from_cells():
    def made(p95, connections=100.0):
        return cells.Cell(1.0, p95, 1.0, 1.0, 1.0, connections, (p95,))

    by_name = {name: made(p95) for name, p95 in zip(RIVALS, (100.0, 200.0, 300.0, 400.0, 500.0), strict=True)}
    found = {("hotel", "high", 0.8, "round_robin"): by_name | {FULL: made(150.0, 1001.0), MICRONS: made(110.0)}}
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in static.bars(found).splitlines()[2:]]
    where = "hotel, 0.8, round robin"
    assert rows == [
        ["high: beside the median of the rivals", "-60 %", "-63.3 %", "-63.3 %", where, "1 of 1"],
        ["high: beside the best of the rivals", "below", "+10.0 %", "+10.0 %", where, "0 of 1"],
        ["high: beside fully connected", "-20 %", "-26.7 %", "-26.7 %", where, "1 of 1"],
        ["high: connections of fully connected's", "a tenth", "10.0%", "10.0%", where, "1 of 1"],
    ]


def test_microns_here_is_what_the_command_answers():
    application = deploy(SHAPES["hotel"], SMALL).public()
    learnt = cells.samples("hotel", 32, combinations=2)
    document = read_application(application)
    shipped = answer(document.application, MICRONS, read_samples(learnt.splitlines(), "samples"), document.settings)
    ours = strategy(MICRONS, learnt)(application)
    assert ours == Solution.model_validate(solution_object(shipped))
