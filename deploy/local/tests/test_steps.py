"""Stamps and steps: what is repeated, what is skipped, and in which order."""

import threading
from pathlib import Path

import pytest

from stack.fingerprint import fingerprint
from stack.steps import Runner, Step, StepError, run


def runner(folder: Path) -> Runner:
    return Runner(stamps=folder / "stamps", logs=folder)


def test_a_fingerprint_sees_content_names_and_absence(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    missing = fingerprint([one])
    one.write_text("")
    empty = fingerprint([one])
    one.write_text("a")
    two.write_text("b")
    assert len({missing, empty, fingerprint([one]), fingerprint([two]), fingerprint([one], ["v"])}) == 5
    assert fingerprint([one, two]) == fingerprint([two, one])


def test_a_directory_stands_for_its_files(tmp_path: Path) -> None:
    before = fingerprint([tmp_path])
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/file").write_text("a")
    after = fingerprint([tmp_path])
    assert before != after
    (tmp_path / "deep/file").write_text("b")
    assert fingerprint([tmp_path]) != after


def test_a_step_is_repeated_when_its_input_changes_or_its_output_is_gone(tmp_path: Path) -> None:
    source, product = tmp_path / "source", tmp_path / "product"
    ran: list[str] = []

    def build(log: Path) -> None:
        ran.append(source.read_text())
        product.write_text(source.read_text().upper())

    step = Step("build", "", build, inputs=(source,), outputs=(product,))
    repeated = runner(tmp_path)

    source.write_text("a")
    repeated.run([step])
    repeated.run([step])
    assert ran == ["a"]
    source.write_text("b")
    repeated.run([step])
    assert ran == ["a", "b"]
    product.unlink()
    repeated.run([step])
    assert ran == ["a", "b", "b"]


def test_a_failed_step_is_not_stamped_stops_what_follows_and_says_where_its_log_is(tmp_path: Path) -> None:
    ran: list[str] = []
    steps = [
        Step("first", "", lambda log: run(["false"], log), values=("x",)),
        Step("second", "", lambda log: ran.append("second"), after=("first",)),
    ]
    repeated = runner(tmp_path)
    with pytest.raises(StepError, match="first: false exited with 1") as failure:
        repeated.run(steps)
    assert ran == []
    assert failure.value.log == tmp_path / "setup-first.log"
    assert failure.value.log.read_text() == "$ false\n"
    with pytest.raises(StepError):
        repeated.run(steps)


def test_an_error_names_the_program_and_not_what_lowers_its_priority(tmp_path: Path) -> None:
    with pytest.raises(StepError, match=r"^false exited with 1$"):
        run(["nice", "false"], tmp_path / "build.log")


def test_an_error_of_the_system_names_its_step(tmp_path: Path) -> None:
    def copy(log: Path) -> None:
        (tmp_path / "absent/file").write_text("")

    step = Step("copy", "", copy, advice="make room")
    with pytest.raises(StepError, match=r"copy: .*No such file or directory") as failure:
        runner(tmp_path).run([step])
    assert failure.value.advice == "make room"


def test_the_first_step_may_write_its_log_in_a_folder_that_did_not_exist(tmp_path: Path) -> None:
    def action(log: Path) -> None:
        with log.open("a") as stream:
            stream.write("done")

    Runner(stamps=tmp_path / "stamps", logs=tmp_path / "cache/logs").run([Step("first", "", action)])
    assert (tmp_path / "cache/logs/setup-first.log").read_text() == "done"


def test_steps_of_one_resource_never_run_at_once_others_do(tmp_path: Path) -> None:
    lock = threading.Lock()
    together = threading.Barrier(2, timeout=10)
    order: list[str] = []

    def alone(log: Path) -> None:
        assert lock.acquire(blocking=False), "two steps of one resource ran at once"
        order.append("maven")
        lock.release()

    def meet(log: Path) -> None:
        together.wait()

    steps = [
        Step("one", "", alone, resource="maven"),
        Step("two", "", alone, resource="maven"),
        Step("left", "", meet),
        Step("right", "", meet),
    ]
    runner(tmp_path).run(steps)
    assert order == ["maven", "maven"]
