"""A loop that hangs ends its process; one that makes progress does not."""

from sluice.decider.watchdog import watch
from sluice.engine.health import HANGS_S, Health


def test_a_process_ends_once_its_loop_has_made_no_progress_for_two_minutes() -> None:
    now_s, codes = 0.0, list[int]()

    def sleep(seconds: float) -> None:
        nonlocal now_s
        now_s += seconds
        if now_s <= 600:
            health.progress()

    health = Health(lambda: now_s)
    watch(health, codes.append, sleep)
    assert (codes, now_s) == ([70], 600 + HANGS_S + 15)


def test_a_process_that_was_stopped_goes_on() -> None:
    now_s, looks, codes = 0.0, 0, list[int]()

    def sleep(seconds: float) -> None:
        nonlocal now_s, looks
        looks += 1
        now_s += 1_000 if looks == 2 else seconds
        if looks in (1, 4):
            health.progress()

    health = Health(lambda: now_s)
    watch(health, codes.append, sleep)
    assert (codes, now_s) == ([70], 1_000 + 15 + HANGS_S + 15)
