"""Verdicts on looks at a stack: clock and looks are made up."""

from sluice_kit.watchdog.standstill import IN_VAIN_S, LIMIT_S, LONGEST_STEP_S, Beat, StandStill


def looks(standstill: StandStill, start: float, seconds: float, **beats: Beat) -> float:
    """A look every 5 s with these beats; the time of the last."""
    for n in range(1, round(seconds / 5) + 1):
        standstill.look(start + 5.0 * n, beats)
    return start + seconds


def test_a_stage_that_answers_does_not_stand_still_though_nothing_passes() -> None:
    standstill = StandStill(0.0)
    looks(standstill, 0.0, 3600.0, kafka=Beat(True, "ends at 7", counts=7))
    assert standstill.verdict() == ""


def test_a_stage_without_an_answer_stands_still_at_the_limit_and_the_verdict_says_what_it_said() -> None:
    standstill = StandStill(0.0)
    at = looks(standstill, 0.0, 10.0, kafka=Beat(True, "ends at 7"), neo4j=Beat(True, "answers"))
    at = looks(standstill, at, LIMIT_S - 5.0, kafka=Beat(True, "ends at 7"), neo4j=Beat(False, "timed out"))
    assert standstill.verdict() == ""
    looks(standstill, at, 5.0, kafka=Beat(True, "ends at 7"), neo4j=Beat(False, "timed out"))
    assert standstill.verdict() == f"the stack stands still: neo4j for {LIMIT_S:.0f} s (timed out)"


def test_an_answer_in_between_begins_anew() -> None:
    standstill = StandStill(0.0)
    at = looks(standstill, 0.0, LIMIT_S, neo4j=Beat(False, "timed out"))
    at = looks(standstill, at, 5.0, neo4j=Beat(True, "answers"))
    looks(standstill, at, LIMIT_S - 5.0, neo4j=Beat(False, "timed out"))
    assert standstill.verdict() == ""


def test_a_stage_that_answers_always_the_same_pulse_stands_still() -> None:
    """Flink's REST interface answers, but no checkpoint completes."""
    standstill = StandStill(0.0)
    standstill.look(0.0, {"checkpoints": Beat(True, "4 done", pulse="4")})
    at = looks(standstill, 0.0, LIMIT_S - 5.0, checkpoints=Beat(True, "4 done", pulse="4"))
    assert standstill.verdict() == ""
    at = looks(standstill, at, 5.0, checkpoints=Beat(True, "4 done", pulse="4"))
    assert standstill.verdict() == f"the stack stands still: checkpoints for {LIMIT_S:.0f} s (4 done)"
    looks(standstill, at, 5.0, checkpoints=Beat(True, "5 done", pulse="5"))
    assert standstill.verdict() == ""


def test_a_pulse_that_comes_slowly_is_no_standstill() -> None:
    """A machine on which a checkpoint takes a minute."""
    standstill, at = StandStill(0.0), 0.0
    for done in range(60):
        at = looks(standstill, at, 60.0, checkpoints=Beat(True, "", pulse=done))
    assert standstill.verdict() == ""


def test_the_time_in_which_nobody_looked_counts_as_one_long_step() -> None:
    """The machine slept for an hour, or gave whoever looks no processor."""
    standstill = StandStill(0.0)
    standstill.look(5.0, {"kafka": Beat(False, "refused")})
    standstill.look(3605.0, {"kafka": Beat(False, "refused")})
    assert standstill.stages["kafka"].still_s == LONGEST_STEP_S
    assert standstill.verdict() == ""


def test_counts_and_ways_to_answer_are_what_moves() -> None:
    standstill = StandStill(0.0)
    standstill.look(5.0, {"kafka": Beat(True, "", counts=7)})
    standstill.look(10.0, {"kafka": Beat(True, "", counts=7)})
    assert standstill.moved_at == 5.0
    standstill.look(15.0, {"kafka": Beat(True, "", counts=8)})
    assert standstill.moved_at == 15.0
    standstill.look(20.0, {"kafka": Beat(False, "", counts=8)})
    assert standstill.moved_at == 20.0


def test_waits_in_vain_add_up() -> None:
    standstill = StandStill(0.0)
    standstill.in_vain(IN_VAIN_S - 1.0)
    assert standstill.verdict() == ""
    standstill.in_vain(1.0)
    assert standstill.verdict().startswith(f"every stage answers, but tests have waited {IN_VAIN_S:.0f} s")


def test_the_table_has_the_stillest_stage_first() -> None:
    standstill = StandStill(0.0)
    looks(standstill, 0.0, 20.0, kafka=Beat(True, "ends at 7"), neo4j=Beat(False, "timed out"))
    first, second = standstill.table(20.0, 20.0)
    assert first.split()[0] == "neo4j"
    assert "15 s  timed out" in first
    assert "0 s  ends at 7" in second
