import csv
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from testbed.spans import Span, SpanSite
from testbed.windows import WindowKey, latency_index, threshold_index, windows

MS = 1_000_000
SERVER = SpanSite("cart", "server", "", "GET /cart")
CLIENT = SpanSite("front", "client", "cart", "GET")


def span(start_ms, end_ms, site=SERVER, instance="cart-1", failed=False):
    return Span(1, 1, 0, site, instance, round(start_ms * MS), round(end_ms * MS), failed)


def key(bucket_ms, site=SERVER, instance="cart-1"):
    return WindowKey(site.service, instance, site.side, site.peer, bucket_ms * MS)


def test_worked_by_hand():
    table = windows([span(50, 230), span(120, 130, failed=True), span(180, 190, CLIENT, "front-1")])
    assert set(table) == {key(0), key(100), key(200), key(100, CLIENT, "front-1")}
    # 50..230 overlaps 50 + 100 + 30 ms; 120..130 another 10 ms of the second bucket.
    assert [table[key(b)].busy_ns for b in (0, 100, 200)] == [50 * MS, 110 * MS, 30 * MS]
    assert [table[key(b)].completions for b in (0, 100, 200)] == [0, 1, 1]
    assert [table[key(b)].errors for b in (0, 100, 200)] == [0, 1, 0]
    # log2(10e6) * 64 = 1488.24 -> 1488; log2(180e6) * 64 = 1755.12 -> 1755
    assert table[key(100)].latency == {1488: 1}
    assert table[key(200)].latency == {1755: 1}


def test_an_end_on_the_edge_belongs_to_the_bucket_that_begins_there():
    table = windows([span(50, 100)])
    assert (table[key(0)].busy_ns, table[key(0)].completions) == (50 * MS, 0)
    assert (table[key(100)].busy_ns, table[key(100)].completions) == (0, 1)


def test_a_span_of_no_length():
    table = windows([span(42, 42)])
    assert set(table) == {key(0)}
    assert (table[key(0)].busy_ns, table[key(0)].completions, table[key(0)].latency) == (0, 1, {-1: 1})


def test_latency_indices_worked_by_hand():
    # log2(3) * 64 = 101.4 -> 101; log2(1e6) * 64 = 1275.6 -> 1275; powers of two are the upper end of their bucket.
    assert [latency_index(ns) for ns in (0, 1, 2, 3, 4, 1_000_000, 100_000_000)] == [-1, -1, 63, 101, 127, 1275, 1700]


def test_latency_indices_agree_with_the_common_table():
    table = Path(__file__).parents[1] / "contract" / "latency_index.csv"
    with table.open() as file:
        rows = [(int(row["duration_ns"]), int(row["index"])) for row in csv.DictReader(file)]
    assert len(rows) > 100
    assert [(ns, latency_index(ns)) for ns, _ in rows] == rows


def test_within_a_threshold_counts_whole_buckets():
    assert threshold_index(4) == 127
    assert threshold_index(5) == 147  # log2(5) * 64 = 148.6
    table = windows([span(0, 10), span(0, 20), span(0, 40)])
    assert table[key(0)].within(30 * MS) == 2


@given(st.integers(1, 2**45))
def test_an_index_brackets_its_value(ns):
    index = latency_index(ns)
    assert 2 ** (index / 64) * (1 - 1e-12) <= ns <= 2 ** ((index + 1) / 64) * (1 + 1e-12)
    assert threshold_index(ns) in (index - 1, index)


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), max_size=40),
    st.sampled_from([10 * MS, 100 * MS, 1000 * MS]),
)
def test_nothing_is_lost_or_counted_twice(pairs, length):
    spans = [Span(1, 1, 0, SERVER, "cart-1", start, start + duration, duration % 2 == 1) for start, duration in pairs]
    table = windows(spans, length)
    assert sum(w.busy_ns for w in table.values()) == sum(duration for _, duration in pairs)
    assert sum(w.completions for w in table.values()) == len(pairs)
    assert sum(w.errors for w in table.values()) == sum(s.failed for s in spans)
    assert sum(sum(w.latency.values()) for w in table.values()) == len(pairs)
    assert all(k.bucket_ns % length == 0 and w.busy_ns <= length * len(pairs) for k, w in table.items())
