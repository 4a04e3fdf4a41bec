"""`make up DEMO=0`: nothing of the demo is left in the configuration, and the end says what to do."""

import io
from contextlib import nullcontext
from pathlib import Path

import pytest

from sluice.decider.config_file import ConfigFile
from stack import starting, up
from stack.environment import supervised
from stack.report import Report
from stack.settings import REPOSITORY, load
from stack.steps import StepError
from stack.supervisor import Process
from stack.without_demo import without_demo


class Running:
    """A supervisor of a stack that is up, with these programs."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def is_up(self) -> bool:
        return True

    def processes(self) -> list[Process]:
        return [Process(name, "RUNNING", True, 7, 0, 0, 0.0, 0) for name in self.names]


def start(monkeypatch: pytest.MonkeyPatch, *running: str, demo: bool = True, empty: bool) -> str:
    """The printed text of an `up` on a stack that runs these programs; it waits for nothing and starts nothing."""
    output = io.StringIO()
    monkeypatch.setattr(up, "setup_lock", lambda _report: nullcontext())
    monkeypatch.setattr(up, "Supervisor", lambda _settings: Running(*running))
    monkeypatch.setattr(up, "check_prerequisites", lambda *_: None)
    monkeypatch.setattr("stack.steps.Runner.run", lambda _self, _steps: None)
    monkeypatch.setattr(up, "wait_for_recommendation", lambda _settings, report: report.line("waited"))
    monkeypatch.setattr("stack.flink.check_options", lambda _settings: None)
    up.up(load({}), Report(output), demo=demo, empty=empty)
    return output.getvalue()


def test_the_files_of_the_demo_give_way_to_empty_ones_and_others_stay(tmp_path: Path) -> None:
    variables = supervised(without_demo(load({})), {})
    assert variables["SLUICE_RECOMMENDER_CONFIG"] == "deploy/local/empty/sluice.yaml"
    assert variables["SLUICE_ACTUATOR_CONFIG"] == "deploy/local/empty/actuator.yaml"
    overlay = tmp_path / "stack.toml"
    overlay.write_text('[config]\nrecommender = "mine.yaml"\n')
    config = without_demo(load({"SLUICE_STACK": str(overlay)})).config
    assert (config["recommender"], config["actuator"]) == ("mine.yaml", "deploy/local/empty/actuator.yaml")


def test_the_empty_configuration_is_legal_and_has_no_pool() -> None:
    config = ConfigFile(REPOSITORY / "deploy/local/empty/sluice.yaml").load()
    assert (config.pools, config.subsets) == ([], [])


def test_it_ends_with_the_next_steps_and_waits_for_no_recommendation(monkeypatch: pytest.MonkeyPatch) -> None:
    text = start(monkeypatch, "decider", empty=True)
    assert "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317" in text
    assert "./sluice reload" in text
    assert "waited" not in text
    assert "demo shop" not in text
    assert "waited" in start(monkeypatch, "decider", "demo", empty=False)
    assert "demo" not in starting.chosen(demo=False)


@pytest.mark.parametrize(
    ("running", "empty", "message"),
    [(("decider", "demo"), True, "is up with the demo"), (("decider",), False, "is up without the demo")],
)
def test_a_stack_that_is_up_otherwise_is_refused(
    monkeypatch: pytest.MonkeyPatch, running: tuple[str, ...], empty: bool, message: str
) -> None:
    with pytest.raises(StepError, match=message):
        start(monkeypatch, *running, empty=empty)
