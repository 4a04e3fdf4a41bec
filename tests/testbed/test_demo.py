"""The demo as a process: real time, a real OTLP receiver, real HTTP, SIGTERM."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from testbed.receiver import receiver

TESTS = Path(__file__).parents[1]


def demo(*arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-m", "testbed.demo", *arguments],
        env={**os.environ, "PYTHONPATH": str(TESTS), **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


def free_port():
    with receiver() as server:
        return int(server.address.rsplit(":", 1)[1])


def get(port, path):
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return json.load(answer)
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the demo did not come up")


def test_metrics_of_the_suggestions_hosts_carry_the_wall_clock():
    port = free_port()
    with receiver() as server:
        started = time.time_ns()
        process = demo(SLUICE_DEMO=f"http://127.0.0.1:{port}", SLUICE_OTLP_GRPC=server.address)
        try:
            for _ in range(200):
                if server.metrics.requests:
                    break
                time.sleep(0.1)
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=20)
        points = [
            point
            for request in server.metrics.requests
            for group in request.resource_metrics
            for metric in group.scope_metrics[0].metrics
            if metric.name == "system.cpu.utilization"
            for point in metric.gauge.data_points
        ]
    assert len(points) >= 6
    assert all(started <= point.time_unix_nano <= time.time_ns() for point in points)
    assert all(0.3 < point.as_double < 0.95 for point in points)


def test_spans_carry_the_wall_clock_and_none_is_lost_on_sigterm():
    port = free_port()
    with receiver() as server:
        started = time.time_ns()
        process = demo(SLUICE_DEMO=f"http://127.0.0.1:{port}", SLUICE_OTLP_GRPC=server.address)
        try:
            get(port, "/healthz")
            time.sleep(3)
            stats = get(port, "/stats")
            asked_to_stop = time.time_ns()
        finally:
            process.send_signal(signal.SIGTERM)
            _, log = process.communicate(timeout=20)
        stopped = time.time_ns()
        spans = [span for _, span in server.spans()]
    assert process.returncode == 0
    assert f"stopped: {len(spans)} spans sent, 0 dropped" in log
    assert len(spans) > 100
    assert all(started <= s.start_time_unix_nano <= s.end_time_unix_nano <= stopped for s in spans)
    # The last ones ended just before the end, so nothing trails behind the clock.
    assert max(s.end_time_unix_nano for s in spans) > asked_to_stop - 1_500_000_000
    assert stats["spans_dropped"] == 0
    assert stats["requests_per_s"] > 0


def test_runs_on_without_a_collector():
    port = free_port()
    process = demo("--http", f"127.0.0.1:{port}", "--otlp", "127.0.0.1:1")
    try:
        get(port, "/healthz")
        time.sleep(2)
        first = get(port, "/stats")
        time.sleep(1)
        second = get(port, "/stats")
    finally:
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=20)
    assert second["simulated_s"] > first["simulated_s"] + 0.5
    assert second["export_retries"] > 0
    assert process.returncode == 0
    assert "UNAVAILABLE; retrying" in log


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--speed", "0"), "must be a number above 0 and up to 100, got '0'"),
        (("--speed", "fast"), "must be a number above 0 and up to 100, got 'fast'"),
        (("--users", "0"), "must be an integer from 1 to 100000, got '0'"),
        (("--http", "nowhere"), "must be HOST:PORT"),
        (("--http", "127.0.0.1:99999"), "must be HOST:PORT with a port from 0 to 65535"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    process = demo(*arguments)
    _, log = process.communicate(timeout=20)
    assert process.returncode == 2
    assert message in log
