"""Options of the streaming jobs in a stack file: run.py, which knows them, is asked. What Flink says is short."""

from dataclasses import replace
from pathlib import Path

import pytest

from stack import flink
from stack.flink import SubmissionError, check_options, missing_schema, options, shortened, submit
from stack.settings import REPOSITORY, load
from stack.steps import StepError


def test_the_options_of_the_stack_file_are_those_of_the_jobs() -> None:
    settings = replace(load({}), jobs={"trace-quiet-ms": 2000, "idle-ms": 300})
    rules = REPOSITORY / "streaming-jobs/spans.toml"
    assert options(settings) == [f"--span-rules={rules}", "--trace-quiet-ms=2000", "--idle-ms=300"]
    check_options(settings)


def test_the_rules_of_spans_of_the_stack_file_are_those_of_the_jobs(tmp_path: Path) -> None:
    path = tmp_path / "spans.toml"
    path.write_text("[[rule]]\nname = 'a'\naction = 'drop'\n")
    base = load({})
    with pytest.raises(StepError, match="rule a: action is 'drop': must be one of count, leave_out, waiting, around"):
        check_options(replace(base, config={**base.config, "spans": str(path)}))


@pytest.mark.parametrize(
    ("jobs", "said"),
    [
        ({"trace-quiet-ms": 99}, "--trace-quiet-ms is 99: must be 100 to 3600000"),
        ({"trace-quit-ms": 2000}, "unrecognized arguments: --trace-quit-ms=2000"),
        ({"trace-quiet": 2000}, "unrecognized arguments: --trace-quiet=2000"),
    ],
)
def test_one_that_the_jobs_do_not_take_is_refused_in_their_words(jobs: dict[str, int], said: str) -> None:
    with pytest.raises(StepError, match=rf"\[jobs\] of the stack file: run\.py: (error: )?{said}"):
        check_options(replace(load({}), jobs=jobs))


def test_what_the_schema_misses_is_said_by_the_jobs_own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Port 1 refuses: the program ran, asked, and says whom. A program that is not there says nothing of ClickHouse."""
    monkeypatch.setenv("SLUICE_CLICKHOUSE", "http://127.0.0.1:1/")
    assert missing_schema().startswith("ask ClickHouse: http://127.0.0.1:1/: ")


def test_a_reason_is_short() -> None:
    chain = "java.util.concurrent.CompletionException: ... Source: spans -> Calc[2] " + "-> Calc[3] " * 400
    said = f"{chain}is not being executed. Failure reason: Not all required tasks are currently running.\n  at a.b"
    assert shortened(said) == "Not all required tasks are currently running."
    assert len(shortened(chain)) == 300
    assert shortened("") == "no reason given"


def test_a_submission_that_fails_is_said_by_its_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "bin/flink"
    program.parent.mkdir()
    monkeypatch.setattr(flink, "FLINK_HOME", tmp_path)
    program.write_text("#!/bin/sh\necho 'java.lang.Error: no'\necho 'Caused by: java.io.EOFException' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(SubmissionError, match=r"^exit code 1: java\.io\.EOFException$"):
        submit(load({}), None)
    assert capsys.readouterr().out == "java.lang.Error: no\nCaused by: java.io.EOFException\n"
    program.write_text("#!/bin/sh\necho waiting\nexec sleep 60\n")
    with pytest.raises(SubmissionError, match="has not ended within 0 s"):
        submit(load({}), None, timeout_s=0.4)
    program.write_text("#!/bin/sh\n")
    submit(load({}), None)
