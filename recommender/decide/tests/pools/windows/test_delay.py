"""How late data come, measured on the data: with numbers worked out by hand, and on pipelines that are made up."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.windows.delay import ENOUGH_MS, LONGEST_MS, NEGLIGIBLE, NEVER, START_MS, Arrivals, Delay

BUCKET_MS = 100


def arrivals(newest_ms: Iterable[int], *rows: tuple[int, int, int]) -> Arrivals:
    """(pool, start ms, busy ms)."""
    pool, start, busy = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Arrivals(pool, start, busy * 10**6, np.array(list(newest_ms), dtype=np.int64))


class Pipeline:
    """One pool, or some, of `instances` each, that are busy all the time; the reading's clock is 5 s behind theirs."""

    def __init__(self, pools: int = 1, begin_ms: int = 0) -> None:
        self.delay = Delay(pools, BUCKET_MS)
        self.pools, self.now_ms = pools, begin_ms
        self.newest_ms = [NEVER] * pools
        self.sent: list[dict[int, int]] = [{} for _ in range(pools)]

    def read(self, upto_ms: int, late: dict[int, float], elapsed_ms: int = 1_000, live: bool = True) -> None:
        """Reads what came: of each second's busy time of all pools, the share late[age] comes `age` ms later."""
        self.now_ms += elapsed_ms
        rows = []
        for pool, sent in enumerate(self.sent):
            for age_ms, share in late.items():
                begin = sent.get(age_ms, 0)
                end = max(begin, upto_ms - age_ms)
                rows += [(pool, start, round(100 * share)) for start in range(begin, end, BUCKET_MS)]
                sent[age_ms] = end
        for pool, start, _ in rows:
            self.newest_ms[pool] = max(self.newest_ms[pool], start)
        self.delay.take(arrivals(self.newest_ms, *rows), self.now_ms, live)

    def behind_ms(self) -> int:
        """How far the first pool's border lies behind its newest bucket."""
        return self.newest_ms[0] - int(self.delay.complete_before(10**12)[0])


def test_the_example() -> None:
    """20 s on time, and then a reading of which 2 % come later than 0, and 0.8 % later than 0.5 s."""
    delay = Delay(1, BUCKET_MS)
    delay.take(arrivals([0]), 0)
    for second in range(1, 11):
        delay.take(arrivals([6_000 * second]), 6_000 * second)
    assert delay.settle_ms.tolist() == [START_MS]  # readings that bring nothing say nothing
    delay.take(arrivals([60_900], (0, 60_900, 980), (0, 59_500, 12), (0, 58_000, 8)), 61_000)
    assert delay.settle_ms.tolist() == [START_MS]
    for second in range(1, 14):
        newest = 60_900 + 1_000 * second
        rows = [(0, newest, 980), (0, newest - 1_500, 12), (0, newest - 3_000, 8)]
        delay.take(arrivals([newest], *rows), 61_000 + 1_000 * second)
    assert delay.settle_ms.tolist() == [500]
    assert delay.complete_before(80_000).tolist() == [73_900 - 500]


def test_a_new_pool_begins_with_the_start_and_no_data_have_no_border() -> None:
    delay = Delay(2, BUCKET_MS)
    delay.take(arrivals([60_000, NEVER]), 61_000)
    assert delay.settle_ms.tolist() == [START_MS, START_MS]
    assert delay.complete_before(61_000).tolist() == [59_000, NEVER]
    assert delay.complete_before(50_000).tolist() == [49_000, NEVER]  # never beyond now


def test_pools_are_added_behind_those_that_keep_their_delay() -> None:
    pipeline = Pipeline()
    for second in range(1, 30):
        pipeline.read(1_000 * second, {0: 0.9, 500: 0.1})
    (known_ms,) = pipeline.delay.settle_ms.tolist()
    assert known_ms < START_MS
    pipeline.delay.grow(3)
    pipeline.delay.grow(3)
    assert pipeline.delay.settle_ms.tolist() == [known_ms, START_MS, START_MS]
    pipeline.delay.take(arrivals([30_000, 29_000, NEVER]), 30_000)
    assert pipeline.delay.complete_before(30_000).tolist() == [30_000 - known_ms, 29_000 - START_MS, NEVER]


def test_rows_that_come_complete_are_whole_up_to_the_newest() -> None:
    pipeline = Pipeline()
    for second in range(1, 60):
        pipeline.read(1_000 * second, {0: 1.0})
    assert pipeline.behind_ms() == 0


def test_a_share_that_comes_late_is_waited_for_and_a_negligible_one_is_not() -> None:
    """A tenth comes 2 s later, 0.5 % 5 s later. A reading each second knows the newest bucket of a second before."""
    pipeline = Pipeline()
    for second in range(1, 60):
        pipeline.read(1_000 * second, {0: 0.895, 2_000: 0.1, 5_000: 0.005})
    # 100 ms of it come 1.1 to 2.0 s behind what was newest, of which 0.1 % at each of ten ages may be missed.
    assert 1_800 <= pipeline.behind_ms() <= 2_000


def test_a_lag_that_is_constant_does_not_matter() -> None:
    near, far = Pipeline(), Pipeline(begin_ms=3_600_000)
    for second in range(1, 40):
        near.read(1_000 * second, {0: 0.9, 1_000: 0.1})
        far.read(1_000 * second, {0: 0.9, 1_000: 0.1})
    assert near.behind_ms() == far.behind_ms()


def test_what_got_better_or_worse_is_followed_within_minutes() -> None:
    pipeline = Pipeline()
    for second in range(1, 60):
        pipeline.read(1_000 * second, {0: 0.5, 3_000: 0.5})
    assert 2_500 <= pipeline.behind_ms() <= 3_000
    pipeline.sent[0][6_000] = pipeline.sent[0][3_000]
    for second in range(60, 70):
        pipeline.read(1_000 * second, {0: 0.5, 6_000: 0.5})
    assert 5_000 <= pipeline.behind_ms() <= 6_000
    for second in range(64, 360):
        pipeline.read(1_000 * second, {0: 1.0})
    assert pipeline.behind_ms() == 0


def test_a_stall_yields_no_half_filled_bucket_and_no_delay_of_minutes() -> None:
    """Two instances. For a minute nothing comes; then all of one, 2 s later all of the other."""
    pipeline = Pipeline()
    for second in range(1, 40):
        pipeline.read(1_000 * second, {0: 0.5, 10: 0.5})
    before, settle = pipeline.delay.complete_before(10**9)[0], pipeline.delay.settle_ms[0]
    for _ in range(60):
        pipeline.read(39_000, {0: 0.5, 10: 0.5})
    pipeline.read(100_000, {0: 0.5})
    pipeline.read(101_000, {0: 0.5})
    assert pipeline.delay.complete_before(10**9)[0] == before
    pipeline.read(102_000, {0: 0.5, 10: 0.5})
    for second in range(103, 120):
        pipeline.read(1_000 * second, {0: 0.5, 10: 0.5})
    assert pipeline.delay.settle_ms[0] == settle
    assert pipeline.behind_ms() == settle


def test_a_backlog_that_is_worked_off_at_five_times_the_pace_is_waited_for() -> None:
    pipeline = Pipeline()
    for second in range(1, 40):
        pipeline.read(1_000 * second, {0: 1.0})
    for _ in range(60):
        pipeline.read(39_000, {0: 1.0})
    for step in range(1, 16):
        pipeline.read(39_000 + 5_000 * step, {0: 1.0})
        assert step < 3 or pipeline.behind_ms() >= 5_000
    for second in range(115, 121):
        pipeline.read(1_000 * second, {0: 1.0})
    assert pipeline.behind_ms() == 0


def test_part_of_a_pipeline_that_was_away_for_40_s_is_forgotten_in_100() -> None:
    """One of three instances: what it missed comes at once, 40 s and less behind what is newest."""
    pipeline = Pipeline()
    for second in range(1, 60):
        pipeline.read(1_000 * second, {0: 0.67, 10: 0.33})
    for second in range(60, 100):
        pipeline.read(1_000 * second, {0: 0.67})
    pipeline.read(100_000, {0: 0.67, 10: 0.33})
    assert pipeline.delay.settle_ms[0] <= LONGEST_MS
    for second in range(101, 200):
        pipeline.read(1_000 * second, {0: 0.67, 10: 0.33})
    assert pipeline.behind_ms() <= 1_000


def test_traffic_that_begins_again_is_no_backlog() -> None:
    """Nothing was in flight for a minute: there is nothing of it to wait for."""
    pipeline = Pipeline()
    for second in range(1, 40):
        pipeline.read(1_000 * second, {0: 1.0})
    for _ in range(60):
        pipeline.read(39_000, {0: 1.0})
    pipeline.sent[0][0] = 99_000
    pipeline.read(100_000, {0: 1.0})
    assert pipeline.behind_ms() == 0


def test_one_pool_with_its_clock_ahead_hides_no_stall() -> None:
    """Its data are of just now at every reading, as they come into the window."""
    pipeline = Pipeline(3)
    for second in range(1, 160):
        stalled = 40 <= second < 100
        pipeline.newest_ms[2] = pipeline.now_ms + 900
        pipeline.read(39_000 if stalled else 1_000 * second, {0: 0.5, 10: 0.5})
        if second == 100:
            assert pipeline.delay.complete_before(10**9)[0] <= 39_000
    assert pipeline.behind_ms() <= 100


def test_the_past_says_nothing_of_how_late_data_come() -> None:
    """Ten minutes in steps of one; then live, half of it 2 s late."""
    pipeline = Pipeline()
    for minute in range(1, 11):
        pipeline.read(60_000 * minute, {0: 1.0}, elapsed_ms=60_000, live=False)
        assert pipeline.behind_ms() == START_MS
    pipeline.sent[0] = {0: 600_000, 2_000: 600_000}
    for second in range(601, 605):
        pipeline.read(1_000 * second, {0: 0.5, 2_000: 0.5})
        assert pipeline.behind_ms() >= START_MS
    for second in range(605, 620):
        pipeline.read(1_000 * second, {0: 0.5, 2_000: 0.5})
    assert 1_500 <= pipeline.behind_ms() <= 2_000


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 10**4)), min_size=1, max_size=8),
    st.sampled_from((10, 50, 70, 100, 1_000)),
)
def test_at_most_a_hundredth_comes_later_than_the_delay_and_more_than_that_later_than_a_shorter(
    late: list[tuple[int, int]], bucket_ms: int
) -> None:
    """Each reading brings the same: (buckets late, busy ms)."""
    delay = Delay(1, bucket_ms)
    step_ms = -(-1_000 // bucket_ms) * bucket_ms
    newest = 100 * step_ms
    delay.take(arrivals([newest]), newest)
    for _ in range(2 * ENOUGH_MS // step_ms):
        rows = [(0, newest - bucket_ms * age, busy) for age, busy in late]
        newest += step_ms
        delay.take(arrivals([newest], *rows), newest)
    settle_ms = int(delay.settle_ms[0])
    total = sum(busy for _, busy in late)
    fine_ms = bucket_ms * -(-100 // bucket_ms)

    def missed(age_ms: int) -> float:
        return sum(busy for age, busy in late if bucket_ms * age > age_ms) / total

    assert 0 <= settle_ms <= LONGEST_MS
    assert settle_ms % fine_ms == 0
    if settle_ms + fine_ms <= LONGEST_MS:
        assert missed(settle_ms) <= NEGLIGIBLE * (1 + 1e-9)
    if settle_ms:
        assert missed(settle_ms - fine_ms) > NEGLIGIBLE * (1 - 1e-9)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 300), st.integers(1, 500)), max_size=5), max_size=20)
)
def test_pools_are_kept_apart(readings: list[list[tuple[int, int, int]]]) -> None:
    """Three at once are what each is alone, while the pipeline has no stall."""
    together, alone = Delay(3, BUCKET_MS), [Delay(1, BUCKET_MS) for _ in range(3)]
    newest = [100_000, 90_000, NEVER]
    for second, rows in enumerate(readings):
        at = [(pool, 100_000 + 1_000 * second - BUCKET_MS * age, busy) for pool, age, busy in rows]
        now_ms = 101_000 + 1_000 * second
        newest[0] = now_ms - 500  # the pipeline goes on
        for pool, start, _ in at:
            newest[pool] = max(newest[pool], start)
        together.take(arrivals(newest, *at), now_ms)
        for pool, one in enumerate(alone):
            own = [(0, start, busy) for each, start, busy in at if each == pool]
            one._lags = []  # what holds is the whole pipeline's
            one.take(arrivals([newest[pool]], *own), now_ms)
    assert together.settle_ms.tolist() == [int(one.settle_ms[0]) for one in alone]
    found = together.complete_before(10**9).tolist()
    assert found == [int(one.complete_before(10**9)[0]) for one in alone]


@pytest.mark.parametrize(("instances", "mean_s"), [(1, 0.05), (3, 0.05), (3, 1.0), (8, 0.3)])
def test_what_is_used_misses_a_hundredth(instances: int, mean_s: float) -> None:
    """Requests at `instances`, each of which sends every 5 s what ended since; the pipeline takes 0.4 to 0.9 s more.

    Of each reading a bucket is used once, as soon as it is whole.
    """
    rng = np.random.default_rng(instances)
    seconds, warm_s = 240, 60
    begin = rng.uniform(0, seconds, 40 * seconds)
    end = begin + rng.exponential(mean_s, len(begin))
    phase = rng.uniform(0, 5, instances)[rng.integers(0, instances, len(begin))]
    came = phase + 5 * np.ceil((end - phase) / 5) + rng.uniform(0.4, 0.9, len(begin))
    edges = np.arange(0, seconds + 30, BUCKET_MS / 1000)
    delay, known_ns, newest = Delay(1, BUCKET_MS), np.zeros(len(edges)), NEVER
    used: list[float] = []
    first = 0
    for now in range(1, seconds):
        new = (came > now - 1) & (came <= now)
        overlap = np.minimum(end[new, None], edges + BUCKET_MS / 1000) - np.maximum(begin[new, None], edges)
        added = np.rint(np.maximum(overlap, 0) * 1e9).sum(axis=0).astype(np.int64)
        at = np.flatnonzero(added)
        newest, known_ns = max(newest, BUCKET_MS * int(at.max(initial=-1))), known_ns + added
        delay.take(Arrivals(0 * at, BUCKET_MS * at, added[at], np.array([newest])), 1_000 * now)
        border = int(delay.complete_before(1_000 * now)[0]) // BUCKET_MS
        if now == warm_s:
            first = border
        elif now > warm_s:
            used += known_ns[first + len(used) : border].tolist()
    begin_s, end_s = edges[first], edges[first + len(used)]
    true_s = np.maximum(np.minimum(end, end_s) - np.maximum(begin, begin_s), 0).sum()
    assert len(used) > 1_600
    assert 0.98 <= sum(used) / 1e9 / true_s <= 1 + 1e-9


def of_batch(begin_ms: int, busy_ms: int) -> list[tuple[int, int, int]]:
    return [(0, start, busy_ms) for start in range(begin_ms, begin_ms + 5_000, BUCKET_MS)]


def test_half_of_a_batch_is_not_complete() -> None:
    """An SDK sends each 5 s. One reading falls between the two requests of a batch, and the next one has the rest."""
    delay = Delay(1, BUCKET_MS)
    delay.take(arrivals([0], (0, 0, 100)), 0)
    for second in range(1, 46):
        batch = of_batch(1_000 * second - 4_900, 100) if second % 5 == 0 else []
        newest = second // 5 * 5_000
        delay.take(arrivals([newest], *batch), 1_000 * second)
        held = second % 5 == 0
        usual = START_MS if second < 10 else 0
        assert delay.complete_before(10**9).tolist() == [newest - 5_000 * held - usual]
    for second in range(46, 50):
        delay.take(arrivals([45_000]), 1_000 * second)
    delay.take(arrivals([50_000], *of_batch(45_100, 20)), 50_000)
    assert delay.complete_before(10**9).tolist() == [45_000]
    delay.take(arrivals([50_000]), 50_200)  # a reading between two periods
    assert delay.complete_before(10**9).tolist() == [45_000]
    delay.take(arrivals([50_000], *of_batch(45_100, 80)), 51_000)
    assert delay.complete_before(10**9).tolist() == [50_000]  # and nothing was late


def test_a_clock_that_is_set_back_holds_no_batch() -> None:
    delay = Delay(1, BUCKET_MS)
    delay.take(arrivals([0], (0, 0, 100)), 10_000)
    delay.take(arrivals([5_000], *of_batch(100, 100)), 11_000)
    assert delay.complete_before(10**9).tolist() == [0 - START_MS]
    delay.take(arrivals([5_000]), 8_000)
    assert delay.complete_before(10**9).tolist() == [5_000 - START_MS]


def test_readings_each_five_seconds_hold_no_batch() -> None:
    delay = Delay(1, BUCKET_MS)
    delay.take(arrivals([0], (0, 0, 100)), 0)
    for second in range(5, 30, 5):
        delay.take(arrivals([1_000 * second], *of_batch(1_000 * second - 4_900, 100)), 1_000 * second)
    assert delay.complete_before(10**9).tolist() == [25_000]
