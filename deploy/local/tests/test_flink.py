"""Options of the streaming jobs in a stack file: run.py, which knows them, is asked."""

from dataclasses import replace

import pytest

from stack.flink import check_options, options
from stack.settings import load
from stack.steps import StepError


def test_the_options_of_the_stack_file_are_those_of_the_jobs() -> None:
    settings = replace(load({}), jobs={"trace-quiet-ms": 2000, "idle-ms": 300})
    assert options(settings) == ["--trace-quiet-ms=2000", "--idle-ms=300"]
    check_options(settings)


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
