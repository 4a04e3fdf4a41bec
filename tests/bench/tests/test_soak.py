"""What a soak says of its samples, by hand."""

from bench.heap_log import MIB, after_newest
from bench.soak import Sample, slope_an_hour, summary


def sample(at_s: float, resident_mib: int, heap_mib: int | None, waiting: int) -> Sample:
    heap = None if heap_mib is None else heap_mib * MIB
    return Sample(at_s, 0.0, resident_mib * MIB, heap, waiting, 100, 2 * MIB, int(at_s / 5), 1)


def test_slopes_are_of_the_last_two_thirds_and_an_hour() -> None:
    # What is gained while it warms up does not count; then 6 MiB a minute, and three records less.
    samples = [sample(60 * n, 100 + 500 * n, None, 1000) for n in range(1, 3)]
    samples += [sample(60 * n, 1000 + 6 * n, 300, 30 - 3 * n) for n in range(3, 7)]
    assert dict(summary(samples)) == {
        "time, and how much of it counts below": "360 s, the last 67 %",
        "resident memory of the TaskManager": "median 1,027, most 1,036 MiB, +360 MiB an hour",
        "its heap after a collection": "median 300, most 300 MiB, +0 MiB an hour",
        "records that wait": "median 16, most 21, -180 an hour",
        "a checkpoint takes": "median 100, most 100 ms",
        "its state": "median 2, most 2 MiB, +0 MiB an hour",
        "checkpoints complete, failed": "72, 1",
    }


def test_of_one_sample_there_is_no_slope() -> None:
    assert str(slope_an_hour([sample(1, 1, 1, 1)], [1])) == "nan"


def test_a_heap_that_was_never_collected_is_not_nothing() -> None:
    assert dict(summary([sample(1, 1, None, 0)]))["its heap after a collection"] == "not seen"


def test_heap_after_the_newest_collection() -> None:
    log = (
        "[12.3s][info][gc] GC(4) Pause Young (Allocation Failure) 310M->120M(900M) 8.1ms\n"
        "[13.1s][info][gc] GC(5) Pause Full (Ergonomics) 500M->95M(900M) 80.2ms\n"
        "[13.2s][info][gc] Something else 7M->8M\n"
    )
    assert after_newest(log) == 95 * MIB
    assert after_newest("") is None
