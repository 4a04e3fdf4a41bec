"""Files of every format, whole and broken."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.cli.traces.replay.json_elements import TruncatedError, elements
from sluice.cli.traces.replay.records import Skipped, read_traces

from .jaeger_traces import jaeger_span, jaeger_trace, write_lines
from .test_otlp_json import TRACE_A, TRACE_B, message, span

THREE = [jaeger_trace(1), jaeger_trace(2), jaeger_trace(3)]
OTLP = message(span(TRACE_A, "00000000000000a1"), span(TRACE_B, "00000000000000b1"))
FORMATS = {
    "lines": b"".join(json.dumps(t).encode() + b"\n" for t in THREE),
    "lines without the last line break": b"\n".join(json.dumps(t).encode() for t in THREE),
    "lines with CR, blanks and byte order mark": b"\xef\xbb\xbf"
    + b"\r\n\r\n".join(json.dumps(t).encode() for t in THREE),
    "array": json.dumps(THREE).encode(),
    "array, indented": json.dumps(THREE, indent=2).encode(),
    "export of the Jaeger UI": json.dumps({"data": THREE, "total": 0, "errors": None}).encode(),
    "export, indented": json.dumps({"data": THREE, "total": 0}, indent=4).encode(),
    "export a line": b"".join(json.dumps({"data": [t]}).encode() + b"\n" for t in THREE),
    "documents, indented": b"\n".join(json.dumps(t, indent=1).encode() for t in THREE),
}
OTLP_FORMATS = {
    "one message": json.dumps(OTLP).encode(),
    "one message, indented": json.dumps(OTLP, indent=2).encode(),
    "message a line": (json.dumps(OTLP) + "\n").encode(),
}


def read(path: Path) -> tuple[list[str], list[Skipped]]:
    """Last hexadecimal digits of the trace ids, and what was skipped."""
    items = list(read_traces(str(path)))
    names = [
        item.resource_spans[0].scope_spans[0].spans[0].trace_id.hex()[-2:]
        for item in items
        if not isinstance(item, Skipped)
    ]
    return names, [item for item in items if isinstance(item, Skipped)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_every_jaeger_format(tmp_path: Path, name: str, packed: bool) -> None:
    path = tmp_path / "traces"
    path.write_bytes(gzip.compress(FORMATS[name]) if packed else FORMATS[name])
    assert read(path) == (["01", "02", "03"], [])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", OTLP_FORMATS)
def test_every_otlp_format(tmp_path: Path, name: str, packed: bool) -> None:
    path = tmp_path / "traces"
    path.write_bytes(gzip.compress(OTLP_FORMATS[name]) if packed else OTLP_FORMATS[name])
    assert read(path) == (["0c", "0f"], [])


def test_a_file_larger_than_any_buffer(tmp_path: Path) -> None:
    many = [
        jaeger_trace(n, *(jaeger_span(s, n, 1, operationName="x" * 200) for s in range(1, 11))) for n in range(1, 401)
    ]
    for data in (json.dumps(many), json.dumps({"data": many}), "\n".join(json.dumps(t) for t in many)):
        assert len(data) > 1_000_000
        (tmp_path / "many.gz").write_bytes(gzip.compress(data.encode(), 1))
        items = list(read_traces(str(tmp_path / "many.gz")))
        assert [item.spans for item in items if not isinstance(item, Skipped)] == [10] * 400


def test_broken_lines_are_skipped_with_their_place_and_the_rest_is_read(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "mixed.jsonl",
        '{"traceID": "1", "spans": [',
        THREE[0],
        "this is no JSON",
        "",
        {"a": 1},
        [1, 2],
        {"traceID": "4", "spans": [], "processes": {}},
        THREE[1],
        jaeger_trace(5, jaeger_span(1, 1, 1, spanID="zz")),
        THREE[2],
    )
    names, skipped = read(path)
    assert names == ["01", "02", "03"]
    reasons = [(item.line, item.reason) for item in skipped]
    assert [line for line, _ in reasons] == [1, 3, 5, 6, 6, 7, 9]
    assert reasons[0][1].startswith("is not JSON")
    assert reasons[2][1].startswith("is neither a Jaeger trace (`spans`), OTLP (`resourceSpans`)")
    assert reasons[2][1].endswith("; its keys: a")
    assert reasons[3][1] == "is JSON, but not an object: neither a Jaeger trace nor OTLP"
    assert reasons[5][1] == "has no spans"
    assert "spanID 'zz' is not" in reasons[6][1]
    assert str(skipped[2]).startswith(f"{path}:5: is neither")


def test_a_broken_element_of_an_array_does_not_take_the_next_with_it(tmp_path: Path) -> None:
    parts = [json.dumps(THREE[0]), '{"traceID": "9", "spans": [1,,2]}', '{"x": "]}["}', json.dumps(THREE[1])]
    path = tmp_path / "array.json"
    path.write_text("[\n" + ",\n".join(parts) + "\n]\n")
    names, skipped = read(path)
    assert names == ["01", "02"]
    assert [item.line for item in skipped] == [3, 4]


def test_a_cut_off_array_gives_what_is_whole_and_says_where_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "array.json"
    path.write_text("[\n" + json.dumps(THREE[0]) + ",\n" + json.dumps(THREE[1])[:-10])
    names, skipped = read(path)
    assert names == ["01"]
    assert [(item.line, item.reason) for item in skipped] == [(3, "ends in the middle of a record")]


@pytest.mark.parametrize("lines", [3, 3000])
def test_a_cut_off_gzip_stream_gives_the_lines_before_the_cut(tmp_path: Path, lines: int) -> None:
    packed = gzip.compress(b"".join(json.dumps(jaeger_trace(n)).encode() + b"\n" for n in range(1, lines + 1)))
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(packed[: len(packed) - 4])  # all the data, but not the length behind it
    items = list(read_traces(str(path)))
    assert len([item for item in items if not isinstance(item, Skipped)]) == lines
    assert isinstance(items[-1], Skipped)
    assert items[-1].reason == "after this record the gzip stream ends before its end: the file is cut off"

    path.write_bytes(packed[: len(packed) // 2])
    items = list(read_traces(str(path)))
    whole = [item for item in items if not isinstance(item, Skipped)]
    assert len(whole) < lines
    assert len(items) - len(whole) >= 1


def test_a_damaged_gzip_stream(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(FORMATS["lines"]))
    packed[-8] ^= 1  # the checksum
    path = tmp_path / "damaged.gz"
    path.write_bytes(packed)
    names, skipped = read(path)
    assert names == ["01", "02", "03"]
    assert len(skipped) == 1
    assert skipped[0].reason.startswith("after this record the gzip stream is damaged")


@pytest.mark.parametrize("content", [b"", b"\n \n", b"[]", b'{"data": []}', gzip.compress(b"", mtime=0)])
def test_a_file_without_records_says_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty"
    path.write_bytes(content)
    assert read(path) == ([], [Skipped(str(path), 1, "holds no record")])


def test_an_export_with_an_error_of_the_server_says_what_it_holds(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "export", {"data": None, "errors": [{"code": 404, "msg": "trace not found"}]})
    _, skipped = read(path)
    assert [item.reason for item in skipped] == [
        "is neither a Jaeger trace (`spans`), OTLP (`resourceSpans`), of Tempo (`trace`, `batches`), nor a Zipkin span "
        "(`traceId`, `id`); its keys: data, errors"
    ]


def test_binary_rubbish_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "rubbish"
    path.write_bytes(bytes(range(256)) * 10)
    names, skipped = read(path)
    assert names == []
    assert skipped


@pytest.mark.parametrize(
    "record",
    [
        jaeger_trace(1, jaeger_span(1, 1, 1, operationName="\ud800")),
        message(span(TRACE_A, "00000000000000a1", attributes=[{"\ud800": 1}])),
    ],
    ids=["jaeger", "otlp"],
)
def test_half_of_a_surrogate_pair_is_skipped_and_the_rest_goes_on(tmp_path: Path, record: dict[str, Any]) -> None:
    path = tmp_path / "traces"
    write_lines(path, record, jaeger_trace(2))
    names, skipped = read(path)
    assert names == ["02"]
    assert [str(item) for item in skipped] == [f"{path}:1: holds text that is not Unicode: half of a surrogate pair"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
json_objects = st.dictionaries(st.text(max_size=5), json_values, max_size=4)


class Dripping(io.BytesIO):
    """Gives a few bytes at a time, so that tokens are cut anywhere."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self.step = step

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(self.step)


@given(st.lists(json_objects, max_size=5), st.integers(1, 7), st.sampled_from([None, 2]))
def test_elements_finds_the_objects_of_any_array(objects: list[Any], step: int, indent: int | None) -> None:
    data = json.dumps(objects, indent=indent, ensure_ascii=False).encode()
    parsed = list(elements(Dripping(data, step), depth=1))
    assert [json.loads(element.text) for element in parsed] == objects
    lines = data.split(b"\n")
    assert all(lines[element.line - 1].lstrip(b"[ ,").startswith(b"{") for element in parsed)


def test_too_many_closing_brackets() -> None:
    with pytest.raises(TruncatedError, match="never opened"):
        list(elements(io.BytesIO(b"[]\n]"), depth=1))
