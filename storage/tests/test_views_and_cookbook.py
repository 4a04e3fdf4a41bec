"""Every view and every query of the cookbook returns rows to the read-only user; the views say what the rows mean."""

from datetime import timedelta
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from migrate.statements import read
from sluice_kit.servers.rows import rows

CLICKHOUSE = Path(__file__).resolve().parents[1] / "clickhouse"
VIEWS = sorted(file.stem for file in (CLICKHOUSE / "views").glob("*.sql"))
COOKBOOK = sorted((CLICKHOUSE / "cookbook").glob("*.sql"))
# These tell of faults that the shop does not have; test_cookbook_answers.py makes some.
EMPTY_WHERE_ALL_IS_WELL = {"silent_instances"}
POOL = "service = 'cart', side = 'server', peer = '', threshold_ms = 250"
ARGUMENTS = {
    "v_goodput_curve": f"({POOL}, seconds = 300)",
    "v_goodput_curve_between": f"({POOL}, from_ms = 0, until_ms = 4102444800000)",
    "v_goodput_buckets": f"({POOL}, from_ms = 0, until_ms = 4102444800000)",
    "v_critical_path": "(seconds = 300)",
    "v_critical_path_between": "(from_ms = 0, until_ms = 4102444800000)",
    "v_critical_services": "(seconds = 300)",
    "v_critical_services_between": "(from_ms = 0, until_ms = 4102444800000)",
    "v_span_balance": "(seconds = 300)",
    "v_span_balance_between": "(from_ms = 0, until_ms = 4102444800000)",
    "v_spans_on_topic": "(since_ms = 0)",
    "v_resource_metrics_between": "(from_ms = 0, until_ms = 4102444800000)",
    "v_pool_metrics_between": "(from_ms = 0, until_ms = 4102444800000)",
    "v_container_latency_between": "(from_ms = 0, until_ms = 4102444800000)",
    "v_host_utilization_between": "(from_ms = 0, until_ms = 4102444800000)",
    "v_latency_samples_between": "(from_ms = 0, until_ms = 4102444800000)",
    "v_spans_left_out_between": "(from_ms = 0, until_ms = 4102444800000)",
}


def test_every_view_returns_rows_to_a_reader(reader: Client) -> None:
    empty = [name for name in VIEWS if not rows(reader, f"SELECT * FROM {name}{ARGUMENTS.get(name, '')} LIMIT 1")]
    assert len(VIEWS) >= 8
    assert empty == []


@pytest.mark.parametrize("file", COOKBOOK, ids=lambda file: file.stem)
def test_cookbook(reader: Client, file: Path) -> None:
    title = file.read_text().splitlines()[0]
    assert title.startswith("-- ")
    assert "?" in title
    (statement,) = read(file)
    answer = rows(reader, statement.text)
    assert answer or file.stem in EMPTY_WHERE_ALL_IS_WELL


def test_goodput_around_an_actuation(reader: Client) -> None:
    """The shop's callers complete 1 + 2 + 3 + 4 in 8 buckets of 0.1 s within 250 ms: 12.5/s, before and after."""
    (file,) = [file for file in COOKBOOK if file.stem == "goodput_around_actuations"]
    (row,) = rows(reader, read(file)[0].text)
    assert (row["size_before"], row["size_after"]) == (64, 6)
    assert row["goodput_before_per_s"] == pytest.approx(12.5, abs=0.5)
    assert row["goodput_after_per_s"] == pytest.approx(12.5, abs=0.5)


def test_wait_before_pool_is_the_callers_p95_less_the_own(reader: Client) -> None:
    (file,) = [file for file in COOKBOOK if file.stem == "wait_before_pool"]
    waits = {row["service"]: row["wait_ms"] for row in rows(reader, read(file)[0].text)}
    assert waits["cart"] == pytest.approx(300 - 15, rel=0.02)
    assert waits["catalogue"] == pytest.approx(12 - 10, rel=0.1)


def test_the_newest_subset_and_what_became_of_it(reader: Client) -> None:
    (row,) = rows(reader, "SELECT * FROM v_subset_now")
    assert (row["upstream"], row["instance"], row["downstream"]) == ("frontend", "frontend-0", "cart")
    assert (row["revision"], row["state"], row["weights"]) == (2, "PROVIDED", [2, 1])
    assert (row["delivered_revision"], row["delivered"], row["detail"]) == (2, "REFUSED", "no such zone")


def test_data_sizes_are_means_of_the_spans_that_say_them(reader: Client) -> None:
    """Catalogue's calls: 2,000 rows and 200,000 bytes of 100 spans; no span of cart says rows."""
    sizes = rows(reader, "SELECT DISTINCT service, rows_per_span, bytes_per_span FROM v_data_sizes ORDER BY service")
    assert [tuple(row.values()) for row in sizes] == [("cart", None, 500.0), ("catalogue", 20.0, 2_000.0)]


def test_what_is_left_out_has_its_share_of_the_services_spans(reader: Client) -> None:
    """Of cart's SERVER spans 300 are probes and 100 nested; those that count beside them are in the windows."""
    left_out = rows(reader, f"SELECT * FROM v_spans_left_out_between{ARGUMENTS['v_spans_left_out_between']}")
    (counted,) = rows(
        reader, "SELECT sum(completions) AS spans FROM v_windows WHERE service = 'cart' AND side = 'server'"
    )
    summary = [(row["service"], row["operation"], row["action"], row["spans"], row["mean_ms"]) for row in left_out]
    assert sorted(summary) == [
        ("cart", "GET /cart", "nested", 100, 30.0),
        ("cart", "GET /healthz", "leave_out", 300, 2.0),
        ("catalogue", "pg-pool.connect", "waiting", 50, 4.0),
    ]
    shares = {row["operation"]: row["share"] for row in left_out}
    assert shares["GET /healthz"] == pytest.approx(300 / (400 + counted["spans"]))
    assert shares["GET /cart"] == pytest.approx(100 / (400 + counted["spans"]))
    assert 0 < shares["pg-pool.connect"] < 1


def test_recommendation_history_has_a_row_an_answer(reader: Client) -> None:
    query = "SELECT * FROM v_recommendation_history WHERE service = 'cart' ORDER BY revision"
    learning, provided = rows(reader, query)
    assert (learning["state"], learning["target"], learning["periods"]) == ("LEARNING", None, 2)
    assert (provided["state"], provided["target"], provided["periods"]) == ("PROVIDED", 6, 6)
    assert provided["until"] - provided["since"] == timedelta(seconds=75)


def test_actuation_history_leaves_out_observations_of_nothing_new(reader: Client) -> None:
    columns = "outcome, previous, intended, requested, read_back, state, threshold_ms, reasons"
    query = f"SELECT {columns} FROM v_actuation_history ORDER BY at"
    assert [tuple(row.values()) for row in rows(reader, query)] == [
        ("OBSERVED", 64, None, None, 64, "", None, []),
        ("APPLIED", 64, 6, 6, 6, "PROVIDED", 250.0, ["KNEE"]),
    ]


def test_the_best_trial_so_far_is_good_and_not_refuted(reader: Client) -> None:
    """Trial 2 of 60 ms failed in its repeat: trial 3 of 90 ms is the best. An older session had the name."""
    query = "SELECT number, verdict, baseline, best, is_refuted FROM v_tuning_trials ORDER BY number"
    assert [tuple(row.values()) for row in rows(reader, query)] == [
        (0, "GOOD", 120, 120, False),
        (1, "UNSAFE", 120, 120, False),
        (2, "GOOD", 120, 120, True),
        (3, "GOOD", 120, 90, False),
        (4, "FAILED", 120, 90, False),
        (5, "", 120, 90, False),
    ]
