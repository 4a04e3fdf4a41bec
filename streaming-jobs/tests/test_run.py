"""The statements that run.py gathers from the jobs; no Flink is needed."""

import sys
from pathlib import Path

import pytest

JOBS = Path(__file__).resolve().parents[1] / "jobs"


@pytest.fixture(autouse=True)
def jobs_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(JOBS), *sys.path])


@pytest.mark.parametrize(
    ("names", "views"),
    [
        (["concurrency", "container_latency"], {"otlp_spans": "span_rejected"}),
        (["resource_metrics"], {"otlp_metrics": "rejected_metrics"}),
        (
            ["resource_metrics", "container_latency", "concurrency"],
            {"otlp_metrics": "rejected_metrics", "otlp_spans": "span_rejected"},
        ),
    ],
)
def test_each_topic_has_one_writer_of_its_dead_letters(names: list[str], views: dict[str, str]) -> None:
    import run

    assert run.dead_letter_views([run.JOBS[name] for name in names]) == views


@pytest.mark.parametrize(("given", "inner"), [({"state.backend.type": "rocksdb"}, "rocksdb"), ({}, "hashmap")])
def test_the_state_backend_of_flinks_configuration_is_wrapped_once(given: dict[str, str], inner: str) -> None:
    import run

    class Config(dict[str, str]):
        set = dict.__setitem__

    config = Config(given)
    run.keep_sums_by_elapsed_time(config)
    run.keep_sums_by_elapsed_time(config)
    assert config == {
        "state.backend.type": "dev.sluice.flink.SteadyStateBackend$Factory",
        "sluice.state-backend": inner,
    }
