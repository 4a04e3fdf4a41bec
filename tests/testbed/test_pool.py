import pytest

from testbed.pool import Pool


def test_first_come_first_served():
    pool = Pool(2, queue_limit=2)
    granted: list[str] = []
    assert [pool.acquire(granted.append, name) for name in "abcde"] == [True, True, True, True, False]
    assert granted == ["a", "b"]
    assert (pool.in_use, pool.queued, pool.turned_away) == (2, 2, 1)
    pool.release()
    assert granted == ["a", "b", "c"]
    pool.release()
    pool.release()
    assert granted == ["a", "b", "c", "d"]
    assert (pool.in_use, pool.queued) == (1, 0)


def test_growing_starts_queued_work_at_once():
    pool = Pool(1, queue_limit=9)
    granted: list[str] = []
    for name in "abcd":
        pool.acquire(granted.append, name)
    pool.resize(3)
    assert granted == ["a", "b", "c"]
    assert (pool.size, pool.in_use, pool.queued) == (3, 3, 1)


def test_shrinking_lets_running_work_finish():
    pool = Pool(4, queue_limit=9)
    granted: list[str] = []
    for name in "abcdef":
        pool.acquire(granted.append, name)
    pool.resize(2)
    assert (pool.in_use, pool.queued) == (4, 2)
    pool.release()
    pool.release()  # the two slots above the new size are withdrawn: nothing starts
    assert granted == ["a", "b", "c", "d"]
    assert (pool.in_use, pool.queued) == (2, 2)
    pool.release()  # the next one is handed over
    assert granted == ["a", "b", "c", "d", "e"]
    assert (pool.in_use, pool.queued) == (2, 1)


def test_after_shrinking_new_work_queues():
    pool = Pool(3, queue_limit=9)
    granted: list[str] = []
    for name in "ab":
        pool.acquire(granted.append, name)
    pool.resize(1)
    pool.acquire(granted.append, "c")
    assert granted == ["a", "b"]
    pool.release()
    assert granted == ["a", "b"]
    pool.release()
    assert granted == ["a", "b", "c"]


@pytest.mark.parametrize("size", [0, -1])
def test_a_pool_of_nothing_is_refused(size):
    with pytest.raises(ValueError, match="must be >= 1"):
        Pool(size, 0)
    with pytest.raises(ValueError, match="must be >= 1"):
        Pool(1, 0).resize(size)
