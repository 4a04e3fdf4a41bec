"""The file of an application: what is legal, and what each bad file is told."""

from pathlib import Path

import pytest
import yaml

from sluice.config import ConfigError
from sluice.tuning.application import load
from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.enough import TrialLength
from sluice.tuning.objective.objective import Objective, TuningSlo
from sluice.tuning.session.message import plan_message, read_plan
from sluice.tuning.space import Category, Float, Integer, Parameter, Requirement
from sluice.tuning.space.constraint import Linear
from sluice_kit.local_stack.driver import REPOSITORY
from testbed.presets.shop import shop
from testbed.simulation import Simulation

HERE = Path(__file__).parent


@pytest.mark.parametrize("path", sorted((HERE / "bad").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_bad_file_is_told_what_is_wrong(path: Path) -> None:
    """Each file begins with the problem that it must be told, `# error: ...`, and no other."""
    expected = path.read_text().splitlines()[0].removeprefix("# error: ")
    with pytest.raises(ConfigError) as caught:
        load(path, "first")
    message = str(caught.value)
    assert str(path) in message
    assert expected in message
    if expected != "parse":
        assert len(message.splitlines()) == 1


def test_a_file_is_a_plan() -> None:
    application = load(HERE / "shop.yaml", "first")
    assert (application.service, application.operation) == ("frontend", "GET /home")
    plan = application.plan
    assert (plan.name, plan.target, plan.method, plan.budget, plan.pairs) == (
        "first",
        "shop",
        "gaussian_process",
        30,
        5,
    )
    assert plan.window == TrialLength(10.0, 30.0, 60.0, 0.05)
    assert plan.objective == Objective(
        ((Metric.P95, 1.0), (Metric.GOODPUT, -0.5)),
        (TuningSlo(Metric.P99, 500.0), TuningSlo(Metric.ERRORS, 0.01)),
        250.0,
    )
    threads, spare, model, _, memory, window = plan.space.parameters
    assert threads == Parameter("web.threads", Integer(1, 256, log=True), 64, "web")
    assert spare.kind == Integer(1, 16)
    assert model.kind == Category(("synchronous", "adaptive"))
    assert (memory.kind, memory.default) == (Float(1.0, 1000.0, log=True), 64.0)
    assert window.when == Requirement("db.model", ("adaptive",))
    assert plan.space.constraints == (Linear((("web.spare", 1.0), ("web.threads", -1.0)), at_most=0.0),)
    assert read_plan(plan_message(plan)) == plan


def test_the_demo_s_session_has_the_parameters_that_its_actuator_sets() -> None:
    """At the sizes that the shop begins with."""
    folder = REPOSITORY / "deploy/local/tuning"
    plan = load(folder / "shop.yaml", "first").plan
    sets = yaml.safe_load((folder / "parameters.yaml").read_text())
    assert sets["target"] == plan.target
    assert [entry["name"] for entry in sets["parameters"]] == [parameter.name for parameter in plan.space.parameters]
    pools = Simulation(shop(1), 1, lambda span: None).pools
    assert {parameter.name: parameter.default for parameter in plan.space.parameters} == {
        name: pools[name].size for name in pools
    }


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"read .*none\.yaml"):
        load(tmp_path / "none.yaml", "first")
