"""`sluice critical-path`: files, faults, forms of output. That the paths are right is tested elsewhere.

The tests that need the Java program are left out where its jar is not built.
"""

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from sluice.cli.output import CliError
from sluice.cli.traces.critical_path.parts import TraceParts
from sluice.cli.traces.critical_path.table import Lines, PathTable, block
from sluice.cli.traces.critical_path.walker import REPOSITORY, command, walk
from sluice.cli.traces.replay.trace import Trace

from .jaeger_traces import jaeger_span, jaeger_trace, write_lines
from .test_otlp_json import TRACE_A, message, span

Run = Callable[..., Result]
JAR = REPOSITORY / "streaming-jobs/functions/target/sluice-functions.jar"
needs_jar = pytest.mark.skipif(not JAR.exists(), reason=f"{JAR} is not built; `make setup` does it")


def section(trace: str, root: str, start_us: float, end_us: float, **more: Any) -> dict[str, Any]:
    return {
        "trace_id": trace,
        "span_id": root,
        "service": "shop",
        "operation": "GET",
        "start_us": start_us,
        "end_us": end_us,
        "root_span_id": root,
        "incomplete": False,
    } | more


def rows(result: Result) -> list[tuple[str, float, float]]:
    records = [json.loads(line) for line in result.stdout.splitlines()]
    return [(section["operation"], section["start_us"], section["end_us"]) for section in records]


# 1 [0, 1000) us waits for 2 [100, 600).
NESTED = (jaeger_span(1, 0, 1000), jaeger_span(2, 100, 500, parent=1))


@needs_jar
def test_sections_of_jaeger_json(run: Run, tmp_path: Path) -> None:
    result = run("critical-path", write_lines(tmp_path / "t.gz", jaeger_trace(7, *NESTED), packed=True), "-o", "jsonl")
    assert result.exit_code == 0, result.output
    first = json.loads(result.stdout.splitlines()[0])
    assert first == {
        "trace_id": f"{7:032x}",
        "span_id": f"{1:016x}",
        "service": "shop",
        "operation": "op1",
        "start_us": 0,
        "end_us": 100,
        "root_span_id": f"{1:016x}",
        "incomplete": False,
    }
    assert rows(result) == [("op1", 0, 100), ("op2", 100, 600), ("op1", 600, 1000)]
    assert "1 traces, 2 spans: 1 paths, 3 sections" in result.stderr


@needs_jar
def test_parts_of_a_trace_in_two_files_are_one_trace(run: Run, tmp_path: Path) -> None:
    times = {"startTimeUnixNano": "1000", "endTimeUnixNano": "2000"}
    root = span(TRACE_A, "00000000000000a1") | times
    child = span(TRACE_A, "00000000000000a2") | times | {"parentSpanId": "00000000000000a1"}
    files = [write_lines(tmp_path / name, message(part)) for name, part in (("a", child), ("b", root))]
    result = run("critical-path", *files, "-o", "jsonl")
    assert result.exit_code == 0, result.output
    assert "1 traces, 2 spans: 1 paths" in result.stderr
    assert {json.loads(line)["root_span_id"] for line in result.stdout.splitlines()} == {"00000000000000a1"}
    assert rows(result) == [("n", 1, 2)]


@needs_jar
def test_nanoseconds_are_decimals(run: Run, tmp_path: Path) -> None:
    half = span(TRACE_A, "00000000000000a1") | {"startTimeUnixNano": "1500", "endTimeUnixNano": "2001"}
    result = run("critical-path", write_lines(tmp_path / "t", message(half)), "-o", "jsonl")
    assert '"start_us":1.5,"end_us":2.001' in result.stdout


@needs_jar
def test_what_is_on_no_path_is_said(run: Run, tmp_path: Path) -> None:
    spans = (
        *NESTED,
        jaeger_span(3, 2000, 10, parent=1),
        jaeger_span(4, 5, 5, parent=4),
        jaeger_span(5, 7, 2, parent=9),
    )
    result = run("critical-path", write_lines(tmp_path / "t", jaeger_trace(1, *spans)), "-o", "jsonl")
    assert "1 traces, 5 spans: 2 paths, 1 incomplete, 4 sections" in result.stderr
    assert "on no path: 1 spans (outside its parent's time, or below such a span)" in result.stderr
    assert "on no path: 1 spans (its own parent, or below such a span)" in result.stderr
    assert [json.loads(line)["incomplete"] for line in result.stdout.splitlines()] == [False, False, False, True]


@needs_jar
def test_broken_records_are_named_and_the_rest_is_walked(run: Run, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t", jaeger_trace(1, *NESTED), "{broken", jaeger_trace(2, *NESTED))
    result = run("critical-path", path, "-o", "jsonl")
    assert result.exit_code == 1
    assert len(rows(result)) == 6
    assert f"skipped {path}:2: is not JSON" in result.stderr
    assert "skipped: 1 records" in result.stderr
    assert run("critical-path", path, "--skip-bad").exit_code == 0


@needs_jar
def test_standard_input_limit_and_table(run: Run) -> None:
    lines = "".join(json.dumps(jaeger_trace(n, *NESTED)) + "\n" for n in (1, 2, 3))
    result = run("critical-path", "-", "--limit", "2", stdin=lines.encode())
    assert result.exit_code == 0, result.output
    assert result.stdout.count("trace 0") == 2
    assert result.stdout.splitlines()[:5] == [
        f"trace {1:032x}   1.000 ms",
        "  START MS  SELF MS  SHARE  SERVICE  OPERATION",
        "     0.000    0.100  10.0%  shop     op1",
        "     0.100    0.500  50.0%  shop     op2",
        "     0.600    0.400  40.0%  shop     op1",
    ]


@needs_jar
def test_every_form_has_the_same_sections(run: Run, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t", jaeger_trace(7, *NESTED))
    lines = run("critical-path", path, "-o", "jsonl").stdout.splitlines()
    assert json.loads(run("critical-path", path, "-o", "json").stdout) == [*map(json.loads, lines)]
    assert yaml.safe_load(run("critical-path", path, "-o", "yaml").stdout) == [*map(json.loads, lines)]


@needs_jar
def test_input_without_traces_gives_nothing(run: Run, tmp_path: Path) -> None:
    result = run("critical-path", write_lines(tmp_path / "t", "[]"), "--skip-bad")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "0 traces" in result.stderr


def test_missing_file_jar_and_java(run: Run, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t", jaeger_trace(1))
    absent = run("critical-path", path, SLUICE_FUNCTIONS_JAR=str(tmp_path / "no.jar"))
    assert absent.exit_code == 1
    assert "no.jar is not built; run `make setup`" in absent.stderr
    (tmp_path / "some.jar").touch()
    here = {"SLUICE_FUNCTIONS_JAR": str(tmp_path / "some.jar"), "PATH": str(tmp_path)}
    with pytest.raises(CliError, match="there is no Java"):
        command(here, tmp_path)
    missing = run("critical-path", tmp_path / "none", SLUICE_FUNCTIONS_JAR=str(tmp_path / "some.jar"))
    assert missing.exit_code == 1
    assert f"cannot read {tmp_path / 'none'}" in missing.stderr


def test_java_of_set_up_comes_first_then_java_home(tmp_path: Path) -> None:
    chosen, other = tmp_path / ".cache/java-home/bin/java", tmp_path / "jdk/bin/java"
    for java in (chosen, other):
        java.parent.mkdir(parents=True)
        java.touch(mode=stat.S_IRWXU)
    (tmp_path / "a.jar").touch()
    here = {"SLUICE_FUNCTIONS_JAR": str(tmp_path / "a.jar"), "JAVA_HOME": str(tmp_path / "jdk")}
    assert command(here, tmp_path)[0] == str(chosen)
    chosen.unlink()
    assert command(here, tmp_path)[0] == str(other)


PROGRAM = "import sys; n = len(sys.stdin.buffer.read()); print(n); print('{\"bytes\": %d}' % n, file=sys.stderr)"


def test_messages_are_framed_by_their_length() -> None:
    out: list[bytes] = []
    many = [b"ab", b"", b"c" * 300_000]  # more than a pipe holds
    assert walk([sys.executable, "-c", PROGRAM], many, out.append) == {"bytes": 300_014}
    assert b"".join(out) == b"300014\n"


@pytest.mark.parametrize(
    ("program", "cause"),
    [
        ("import sys; sys.exit('read message 2: input ends within it')", "read message 2: input ends within it"),
        ("import sys; sys.exit(3)", "exit code 3"),
        ("import sys; sys.exit('could not find or load main class dev.sluice.paths.Main')", "the jar is older"),
    ],
)
def test_failure_of_the_program_is_told(program: str, cause: str) -> None:
    with pytest.raises(CliError, match=cause):
        walk([sys.executable, "-c", program], [b"x" * 300_000], lambda chunk: None)


def test_faults_of_either_side_end_the_run() -> None:
    def broken() -> Any:
        yield b"a"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        walk([sys.executable, "-c", PROGRAM], broken(), lambda chunk: None)

    def full(chunk: bytes) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        walk([sys.executable, "-c", PROGRAM], [b"a"], full)


def test_parts_keep_the_order_of_first_appearance() -> None:
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, TracesData

    def part(trace: int, number: int) -> Trace:
        resource = ResourceSpans()
        resource.scope_spans.add().spans.add(trace_id=bytes([trace]) * 16, span_id=bytes([number]) * 8)
        return Trace((resource,), 1, 0, 0)

    parts = TraceParts()
    for trace, number in ((2, 1), (1, 2), (2, 3)):
        parts.add(part(trace, number))
    traces = [TracesData.FromString(message).resource_spans for message in parts.messages()]
    parts.close()
    ids = [[r.scope_spans[0].spans[0].span_id[0] for r in resources] for resources in traces]
    assert ids == [[1, 3], [2]]


def test_lines_may_be_cut_anywhere() -> None:
    lines = Lines()
    assert [lines.take(c) for c in (b"a", b"b\nc", b"\n\n")] == [[], [b"ab"], [b"c", b""]]


def test_block_of_an_incomplete_path() -> None:
    text = block([section("t", "r", 1000, 1500.5, incomplete=True), section("t", "x", 1500.5, 3000)])
    assert text.splitlines() == [
        "trace t   2.000 ms   incomplete: the root's parent is missing",
        "  START MS  SELF MS  SHARE  SERVICE  OPERATION",
        "     0.000    0.500  25.0%  shop     GET",
        "     0.500    1.500  75.0%  shop     GET",
        "",
    ]


def test_table_parts_paths_of_one_trace() -> None:
    table = PathTable()
    lines = "".join(json.dumps(section("t", root, 0, 10)) + "\n" for root in ("a", "b")).encode()
    blocks = [*table.take(lines[:50]), *table.take(lines[50:]), *table.last()]
    assert [block.count("trace t") for block in blocks] == [1, 1]
