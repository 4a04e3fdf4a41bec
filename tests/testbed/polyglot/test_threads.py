"""The threads of a gunicorn worker, resized while requests hold them."""

import importlib.util
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

HERE = Path(__file__).parent
HANDLERS = HERE.parents[2] / "actuators/handlers/python"


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(HANDLERS))
    spec = importlib.util.spec_from_file_location("gunicorn_conf", HERE / "python/gunicorn_conf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("sluice_pools", None)


def test_requests_of_the_old_executor_end_and_new_ones_have_the_new_size(settings: ModuleType) -> None:
    worker = SimpleNamespace(cfg=SimpleNamespace(threads=2), tpool=ThreadPoolExecutor(max_workers=2))
    threads = settings.Threads(worker)
    go_on, entered = threading.Event(), threading.Semaphore(0)

    def request() -> str:
        entered.release()
        assert go_on.wait(60)
        return "answered"

    old = [worker.tpool.submit(request) for _ in range(3)]
    assert [entered.acquire(timeout=60) for _ in range(2)] == [True, True]
    assert threads.sizes() == (2, 2)
    assert threads.use() == (None, 1)  # one of three waits

    threads.resize(4)
    assert threads.sizes() == (4, 0)
    new = [worker.tpool.submit(request) for _ in range(6)]
    assert all(entered.acquire(timeout=60) for _ in range(4))
    assert threads.use() == (None, 2)
    go_on.set()
    done, open_ = wait([*old, *new], timeout=60)
    assert not open_
    assert {future.result() for future in done} == {"answered"}


def test_an_executor_that_the_worker_has_read_still_takes_a_request(settings: ModuleType) -> None:
    """The worker's loop reads `tpool` and submits to it, and a resize may lie between."""
    worker = SimpleNamespace(cfg=SimpleNamespace(threads=2), tpool=ThreadPoolExecutor(max_workers=2))
    read = worker.tpool
    settings.Threads(worker).resize(1)
    assert read.submit(lambda: "answered").result(60) == "answered"
