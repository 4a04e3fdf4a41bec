"""`sluice replay` against a real OTLP/gRPC server: counts are exact."""

import gzip
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from click.testing import Result

from sluice.cli.traces.replay.sender import backoff_s

from .jaeger_traces import jaeger_span, jaeger_trace, write_lines
from .otlp_receiver import OtlpReceiver
from .processes import interruptible

Run = Callable[..., Result]
SOURCE = Path(__file__).resolve().parents[2] / "src"


def totals(result: Result) -> dict[str, object]:
    found: dict[str, object] = json.loads(result.stdout)
    return found


def many(path: Path, traces: int, spans: int) -> Path:
    """Traces of `spans` spans each; trace n starts at second n and lasts 1 ms."""
    return write_lines(
        path,
        *(
            jaeger_trace(n, *(jaeger_span(s, n * 1_000_000, 1000) for s in range(1, spans + 1)))
            for n in range(1, traces + 1)
        ),
        packed=True,
    )


def test_every_span_arrives_once(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    path = many(tmp_path / "t.jsonl.gz", traces=300, spans=11)
    result = run("replay", path, "--speed", "max", "--endpoint", receiver.address, "-o", "json")
    assert result.exit_code == 0, result.output
    counts = totals(result)
    assert (counts["traces"], counts["spans_sent"], counts["records_skipped"]) == (300, 3300, 0)
    assert counts["requests"] == len(receiver.requests)
    ids = {(span.trace_id, span.span_id) for span in receiver.spans()}
    assert len(ids) == len(receiver.spans()) == 3300
    assert max(receiver.request_sizes()) <= 512
    assert receiver.most_at_once <= 4


def test_the_default_endpoint_is_the_variable(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t", jaeger_trace(1))
    assert run("replay", path, "--speed", "max", SLUICE_OTLP_GRPC=receiver.address).exit_code == 0
    assert len(receiver.spans()) == 1


def test_an_endpoint_may_be_a_url_without_tls(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t", jaeger_trace(1))
    assert run("replay", path, "--speed", "max", "--endpoint", f"http://{receiver.address}/").exit_code == 0
    assert len(receiver.spans()) == 1
    refused = run("replay", path, "--endpoint", f"https://{receiver.address}")
    assert refused.exit_code == 2
    assert "TLS" in refused.stderr


def test_times_now_moves_the_first_start_to_the_start_and_keeps_all_distances(
    run: Run, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    # The file has the later trace first.
    path = write_lines(tmp_path / "t", jaeger_trace(7), jaeger_trace(5))
    started = time.time_ns()
    assert run("replay", path, "--speed", "max", "--endpoint", receiver.address).exit_code == 0
    starts = [span.start_time_unix_nano for span in receiver.spans()]
    assert started <= starts[0] <= time.time_ns()
    assert starts[1] - starts[0] == 2_000_000_000
    assert all(s.end_time_unix_nano - s.start_time_unix_nano == 1_000_000 for s in receiver.spans())


def test_times_past_moves_the_last_end_to_the_start(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t", jaeger_trace(7), jaeger_trace(5))
    started = time.time_ns()
    assert run("replay", path, "--speed", "max", "--times", "past", "--endpoint", receiver.address).exit_code == 0
    ends = [span.end_time_unix_nano for span in receiver.spans()]
    assert started <= ends[1] <= time.time_ns()
    assert ends[1] - ends[0] == 2_000_000_000


def test_a_replay_that_would_run_far_ahead_of_the_clock_warns(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    # 700 s of time at once: 11.7 min in the future, where the streaming jobs take 10.
    path = write_lines(tmp_path / "t", jaeger_trace(1), jaeger_trace(701))
    arguments = ("replay", path, "--endpoint", receiver.address, "--speed", "max")
    assert "the last spans will be 11.7 min in the future" in run(*arguments).stderr
    assert "in the future" not in run(*arguments, "--times", "past").stderr
    assert "2 traces of 11.7 min of time, sent as fast" in run(*arguments, "--times", "past").stderr


@pytest.mark.parametrize("speed", ["max", "100"])
def test_times_keep_sends_as_recorded(run: Run, receiver: OtlpReceiver, tmp_path: Path, speed: str) -> None:
    path = write_lines(tmp_path / "t", jaeger_trace(7), jaeger_trace(5))
    result = run("replay", path, "--speed", speed, "--times", "keep", "--endpoint", receiver.address)
    assert result.exit_code == 0
    assert sorted(span.start_time_unix_nano for span in receiver.spans()) == [5_000_000_000, 7_000_000_000]


def test_recorded_pace_scaled(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    # The last of 11 traces ends 10.001 s after the first start: at speed 20 it is due after 0.5 s.
    path = many(tmp_path / "t", traces=11, spans=1)
    result = run("replay", path, "--speed", "20", "--endpoint", receiver.address, "-o", "json")
    assert 0.5 <= float(str(totals(result)["elapsed_s"])) < 20
    assert len(receiver.spans()) == 11
    assert len(receiver.requests) > 3


def test_unavailable_twice_then_taken(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    receiver.refusals = [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED]
    path = write_lines(tmp_path / "t", jaeger_trace(1), jaeger_trace(2))
    result = run("replay", path, "--speed", "max", "--endpoint", receiver.address, "-o", "json")
    assert result.exit_code == 0, result.output
    counts = totals(result)
    assert (counts["spans_sent"], counts["requests"], counts["retries"]) == (2, 1, 2)
    assert len(receiver.spans()) == 2
    assert receiver.calls == 3


def test_partial_success_is_counted_and_told(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    receiver.rejects = 3
    path = many(tmp_path / "t", traces=1, spans=5)
    result = run("replay", path, "--speed", "max", "--endpoint", receiver.address, "-o", "json")
    assert result.exit_code == 1
    counts = totals(result)
    assert (counts["spans_sent"], counts["spans_rejected"], counts["refusals"]) == (5, 3, ["too old"])
    assert receiver.calls == 1, "a partial success must not be retried"


def test_a_refusal_for_good_is_counted_and_the_rest_goes_on(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    receiver.refusals = [grpc.StatusCode.INVALID_ARGUMENT]
    path = many(tmp_path / "t", traces=4, spans=1)
    result = run("replay", path, "--speed", "max", "--batch", "1", "--endpoint", receiver.address, "-o", "json")
    assert result.exit_code == 1
    counts = totals(result)
    assert (counts["spans_sent"], counts["spans_failed"], counts["requests_failed"]) == (3, 1, 1)
    assert counts["refusals"] == ["INVALID_ARGUMENT: told to refuse"]


def test_giving_up_names_the_address_and_what_to_do(run: Run, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t", jaeger_trace(1))
    result = run("replay", path, "--speed", "max", "--endpoint", "127.0.0.1:1", "--give-up", "0.3", "-o", "json")
    assert result.exit_code == 1
    assert "gave up sending to 127.0.0.1:1 after retrying for 0.3 s: UNAVAILABLE" in result.stderr
    assert "make up" in result.stderr
    assert (totals(result)["spans_sent"], totals(result)["spans_failed"]) == (0, 1)


def test_bad_records_are_named_counted_and_skipped(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", jaeger_trace(1), "rubbish", jaeger_trace(2))
    arguments = ("replay", path, "--speed", "max", "--endpoint", receiver.address, "-o", "json")
    result = run(*arguments)
    assert result.exit_code == 1
    assert f"skipped {path}:2: is not JSON" in result.stderr.replace("\n", "")
    assert (totals(result)["records_skipped"], totals(result)["spans_sent"]) == (1, 2)
    assert run(*arguments, "--skip-bad").exit_code == 0


def test_limit_and_dry_run(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    path = many(tmp_path / "t", traces=10, spans=2)
    counts = totals(run("replay", path, "--dry-run", "--limit", "4", "-o", "json", "--endpoint", receiver.address))
    assert (counts["traces_read"], counts["spans_read"], counts["spans_sent"]) == (4, 8, 0)
    assert receiver.calls == 0


def test_standard_input_and_several_files(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t", jaeger_trace(1))
    stdin = gzip.compress(json.dumps([jaeger_trace(2), jaeger_trace(3)]).encode())
    result = run("replay", path, "-", "--speed", "max", "--endpoint", receiver.address, stdin=stdin)
    assert result.exit_code == 0, result.output
    assert sorted(span.trace_id[-1] for span in receiver.spans()) == [1, 2, 3]
    assert "spans sent" in result.stdout


def test_a_file_that_is_not_there(run: Run, receiver: OtlpReceiver, tmp_path: Path) -> None:
    result = run("replay", tmp_path / "none.json", "--endpoint", receiver.address)
    assert result.exit_code == 1
    assert f"cannot read {tmp_path / 'none.json'}: No such file or directory" in result.stderr


@pytest.mark.parametrize("words", [("--speed", "0"), ("--speed", "fast"), ("--speed", "nan"), ("--batch", "0")])
def test_wrong_usage(run: Run, tmp_path: Path, words: tuple[str, str]) -> None:
    assert run("replay", write_lines(tmp_path / "t", jaeger_trace(1)), *words).exit_code == 2
    assert run("replay").exit_code == 2


def test_an_interrupt_ends_with_the_totals(receiver: OtlpReceiver, tmp_path: Path) -> None:
    # Traces at seconds 1 to 100: at recorded pace this would take 99 s.
    path = many(tmp_path / "t", traces=100, spans=1)
    arguments = interruptible("replay", str(path), "--endpoint", receiver.address, "-o", "json")
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    deadline = time.monotonic() + 30
    while not receiver.requests and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=40)
    assert process.returncode == 130, error
    assert json.loads(out)["spans_sent"] == len(receiver.spans()) >= 1
    assert b"Traceback" not in error


@pytest.mark.parametrize(
    ("attempt", "least", "most"), [(1, 0.05, 0.1), (2, 0.1, 0.2), (6, 1.6, 3.2), (7, 2.5, 5), (999, 2.5, 5)]
)
def test_backoff(attempt: int, least: float, most: float) -> None:
    assert backoff_s(attempt, lambda low, high: low) == pytest.approx(least)
    assert backoff_s(attempt, lambda low, high: high) == pytest.approx(most)
