"""The benches of connection subsets: files in and out, and that every strategy can be judged."""

import json

import pytest

from bench.subsets import files
from bench.subsets.strategies import FULL, RIVALS, strategy
from testbed.mesh import application as applications
from testbed.mesh.judged import judge
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import Deployment, deploy

SMALL = Deployment(32, 0.4)


def test_an_application_and_solutions_from_files(tmp_path, capsys):
    app = tmp_path / "app.json"
    files.main(["make", "--shape", "hotel", "--containers", "96", "--difference", "0.4", "--to", str(app)])
    application = applications.load(app)
    assert max(host.cpu for host in application.hosts) > 0.3
    solutions = []
    for name in ("sre", FULL):
        solution = strategy(name)(application.public(), None)
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


@pytest.mark.parametrize("name", [*RIVALS, FULL])
def test_every_strategy_connects_an_application_that_can_be_judged(name):
    application = deploy(SHAPES["hotel"], SMALL)
    judged = judge(application, strategy(name)(application.public(), None), 1, 500)
    assert judged.failed == 0
    assert judged.requests > 300
