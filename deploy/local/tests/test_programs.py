"""The table of programs: what it may mention, in which order programs end, and what supervisord is told."""

import configparser
import re
import threading
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from stack import configs, installs, starting
from stack.environment import supervised
from stack.layout import LOCAL
from stack.programs import Program, configuration, expanded, levels, load, parse, selected
from stack.readiness import answers
from stack.settings import load as load_settings
from stack.steps import Runner, Step, StepError
from stack.supervisor import Process, Supervisor

SETTINGS = load_settings({})
CHAIN = {
    "store": Program("store", "", "run store"),
    "tables": Program("tables", "", "make tables", after=("store",), once=True),
    "queue": Program("queue", "", "run queue"),
    "reader": Program("reader", "", "run reader", after=("tables", "queue", "build")),
}


def test_the_table_mentions_only_variables_and_ports_that_there_are() -> None:
    variables = supervised(SETTINGS, {})
    for program in load().values():
        assert set(re.findall(r"\$\{(\w+)\}", program.command)) <= set(variables)
        assert starting.description(SETTINGS, program)
        assert answers(program.ready, SETTINGS) in (True, False)


def test_what_a_program_waits_for_is_a_program_or_a_step() -> None:
    programs = load()
    start = starting.steps(SETTINGS, Supervisor(SETTINGS), programs, cancelled=threading.Event())
    known = {step.name for step in [*installs.steps("up"), *start]}
    assert len(known) == len(installs.steps("up")) + len(start)
    for step in start:
        assert set(step.after) <= known


@pytest.mark.parametrize("purpose", installs.PURPOSES)
def test_the_steps_of_a_purpose_have_one_order(purpose: str) -> None:
    steps = installs.steps(purpose)
    assert len({step.name for step in steps}) == len(steps)
    list(TopologicalSorter({step.name: step.after for step in steps}).static_order())


@pytest.mark.parametrize("name", load())
def test_a_program_waits_for_what_is_built_and_its_command_or_configuration_names(name: str) -> None:
    program, read = load()[name], {"flink-taskmanager": "flink/config.yaml", "clickhouse": "clickhouse/config.xml"}
    text = expanded(program.command, supervised(SETTINGS, {}))
    if name in read:
        text += configs.render((LOCAL / read[name]).read_text(), configs.names(SETTINGS, ""))
    start = starting.steps(SETTINGS, Supervisor(SETTINGS), load(), cancelled=threading.Event())
    steps = {step.name: step for step in [*installs.steps("up"), *start]}
    waited, more = set(), {name}
    while more:
        waited |= more
        more = {before for each in more for before in steps[each].after} - waited
    needed = {step.name for step in steps.values() if any(str(output) in text for output in step.outputs)}
    assert needed - waited == set()


def test_no_program_ends_while_another_needs_it() -> None:
    assert [sorted(names) for names in levels(CHAIN)] == [["queue", "store"], ["reader"]]
    groups = levels(load())
    at = {name: number for number, names in enumerate(groups) for name in names}
    assert at["demo"] > at["collector"] > at["kafka"]
    assert at["actuator"] > at["server"] > at["kafka"]
    assert at["decider"] > at["clickhouse"]
    assert at["jobs"] > at["flink-jobmanager"]
    assert set(at) == {name for name, program in load().items() if not program.once}


def test_programs_that_wait_for_each_other_are_an_error() -> None:
    with pytest.raises(ValueError, match="cycle"):
        levels({"a": Program("a", "", "", after=("b",)), "b": Program("b", "", "", after=("a",))})


def test_a_selection_has_what_it_waits_for() -> None:
    assert list(selected(CHAIN, ["tables"])) == ["store", "tables"]
    assert "demo" not in starting.chosen(demo=False)
    assert set(starting.chosen(demo=False, only=["topics"])) == {"kafka", "topics"}


def test_a_key_that_no_program_has_is_an_error() -> None:
    with pytest.raises(TypeError, match="redy"):
        parse('[a]\ndoes = "a"\ncommand = "a"\nredy = "tcp kafka"')


@pytest.mark.parametrize("ready", ["udp kafka", "tcp kafka /", "http kafka"])
def test_a_probe_of_another_form_is_an_error(ready: str) -> None:
    with pytest.raises(ValueError, match="neither"):
        answers(ready, SETTINGS)


def test_supervisord_listens_on_no_port_and_gets_each_supervised_program() -> None:
    text = configuration(CHAIN | {"odd": Program("odd", "", "run 100%")}, {}, Path("/r"), Path("/l"))
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    assert "inet_http_server" not in parser
    assert parser["unix_http_server"]["chmod"] == "0600"
    assert {name for name in parser if name.startswith("program:")} == {
        "program:store", "program:queue", "program:reader", "program:odd",
    }  # fmt: skip
    assert parser["program:odd"]["command"] == "run 100%%"
    # It stops the group of the highest priority first.
    priority = {
        name: int(parser[section]["priority"])
        for section in parser
        if section.startswith("group:")
        for name in parser[section]["programs"].split(",")
    }
    assert priority["reader"] > priority["store"]


def test_a_program_that_ends_time_after_time_is_given_up() -> None:
    process = Process("a", "BACKOFF", False, 0, 4, 3, 0.0, 0)
    assert starting.hopeless(process, 0) == ""
    assert starting.hopeless(process, -1) == "ended 5 times, the last time with exit code 3"
    assert starting.hopeless(Process("a", "FATAL", False, 0, 0, 0, 0.0, 0), 0) == "cannot be started"


def test_a_step_that_waits_ends_when_another_fails(tmp_path: Path) -> None:
    runner = Runner(stamps=tmp_path / "stamps", logs=tmp_path)

    def fail(_log: Path) -> None:
        raise StepError("broken")

    waited = []
    steps = [
        Step("waits", "", lambda _log: waited.append(runner.cancelled.wait(60.0))),
        Step("fails", "", fail),
    ]
    with pytest.raises(StepError, match="fails: broken"):
        runner.run(steps)
    assert waited == [True]
