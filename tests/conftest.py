"""One real stack for all tests that ask for it: collector, Kafka, Flink, ClickHouse, Neo4j, recommender; no demo."""

import os
import time
from collections.abc import Iterator

import pytest

from sluice_kit.local_stack.driver import STARTED, Stack, StackError, drive, start_anew, started
from sluice_kit.local_stack.flink_jobs import FlinkJobs, keeper_at_rest
from sluice_kit.traffic.messages import PARTITIONS, SentSpan, message, produce
from sluice_kit.waiting import eventually
from sluice_kit.watchdog.watch import reports, watched


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Up, and watched: a stack that does not come up, or stands still, ends the session."""
    if os.environ.get(STARTED):
        yield from read(started())
        return
    try:
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            start_anew()
        yield from read(started())
    except StackError as error:
        pytest.exit(f"{error}; what it says stands above", pytest.ExitCode.INTERRUPTED)
    finally:
        drive("down")


@pytest.fixture(scope="module")
def flink(stack: Stack) -> Iterator[FlinkJobs]:
    """Jobs that a test submits itself, while the stack's own rests."""
    with keeper_at_rest(stack) as jobs:
        yield jobs


def read(stack: Stack) -> Iterator[Stack]:
    """The stack, once a span on each partition had its window: one that is read late, at the start, counts as idle."""
    with watched(stack):
        now = time.time_ns()
        spans = [
            SentSpan(f"first-{n}", os.urandom(16), os.urandom(8), b"", "SERVER", now, now) for n in range(PARTITIONS)
        ]
        produce(stack.address["SLUICE_KAFKA"], [(message([span]), n) for n, span in enumerate(spans)])
        query = "SELECT uniqExact(service) FROM v_windows WHERE startsWith(service, 'first-')"
        if eventually(lambda: stack.value(query), PARTITIONS, steady_s=0) != PARTITIONS:
            pytest.exit("the stack is up, and the first spans do not come through it", pytest.ExitCode.INTERRUPTED)
        yield stack


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in reports:
        terminalreporter.section("why the session was ended", red=True)
        terminalreporter.write_line(report)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that deploy jobs of their own come last. A test that hangs, unseen by the watch, is ended."""
    items.sort(key=lambda item: "flink" in getattr(item, "fixturenames", ()))
    for item in items:
        if "stack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.stack)
            item.add_marker(pytest.mark.timeout(1800 if "soak" in item.path.parts else 900))
