"""`sluice sql` against the real ClickHouse engine with the real schema."""

import io
import json
import shlex
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from migrate.__main__ import schema_up
from sluice.cli.environment import Addresses, addresses
from sluice.cli.sql.cookbook import recipe, recipes
from sluice.cli.sql.http import one_line
from sluice.cli.sql.result import write_raw
from sluice_kit.servers.clickhouse import ClickHouse, clickhouse

from .processes import command
from .processes import run as run_process

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    with clickhouse(tmp_path_factory.mktemp("clickhouse")) as server:
        schema_up(server.writer_url, "sluice", wait_s=10)
        yield server


@pytest.fixture
def sql(run: Run, engine: ClickHouse) -> Run:
    return lambda *words, **more: run("sql", *words, SLUICE_CLICKHOUSE=engine.url, **more)


@pytest.fixture(scope="module")
def where(engine: ClickHouse) -> Addresses:
    return addresses({"SLUICE_CLICKHOUSE": engine.url})


pytestmark = pytest.mark.integration


def test_json_is_an_array_of_rows_with_numbers_as_numbers(sql: Run) -> None:
    columns = "number AS n, toUInt64(9007199254740993) AS big, 'é\"' AS s, NULL AS nothing, [1, 2] AS a"
    query = f"SELECT {columns} FROM numbers(2)"
    result = sql(query, "-o", "json")
    assert result.exit_code == 0, result.output
    row = {"big": 9007199254740993, "s": 'é"', "nothing": None, "a": [1, 2]}
    assert json.loads(result.stdout) == [{"n": 0} | row, {"n": 1} | row]


def test_json_of_no_rows_is_an_empty_array(sql: Run) -> None:
    assert json.loads(sql("SELECT service FROM windows WHERE 0", "-o", "json").stdout) == []


def test_table(sql: Run) -> None:
    lines = sql("SELECT 'cart' AS service, 12 AS size, NULL AS peer").stdout.splitlines()
    assert [line.split() for line in lines] == [["service", "size", "peer"], ["cart", "12", "-"]]


def test_a_table_says_how_many_rows_it_left_out(sql: Run) -> None:
    result = sql("SELECT number FROM numbers(250)", "--rows", "10")
    assert len(result.stdout.splitlines()) == 11
    assert "240 more rows" in result.stderr
    assert len(sql("SELECT number FROM numbers(250)", "--rows", "0").stdout.splitlines()) == 251


def test_yaml_and_a_line_a_row(sql: Run) -> None:
    query = "SELECT number AS n, 'é\\x1b' AS s FROM numbers(2)"
    expected = [{"n": 0, "s": "é\x1b"}, {"n": 1, "s": "é\x1b"}]
    assert yaml.safe_load(sql(query, "-o", "yaml").stdout) == expected
    assert [json.loads(line) for line in sql(query, "-o", "jsonl").stdout.splitlines()] == expected
    listed = sql("--list", "-o", "jsonl").stdout.splitlines()
    assert [json.loads(line)["name"] for line in listed] == [recipe.name for recipe in recipes()]
    assert sql("--list", "-o", "csv").exit_code == 2


@pytest.mark.parametrize("form", ["table", "json", "yaml", "jsonl", "csv"])
def test_head_ends_it_quietly(engine: ClickHouse, form: str) -> None:
    arguments = shlex.join(command("sql", "--rows", "0", "-o", form, "SELECT number FROM numbers(100000)"))
    pipe = f"{arguments} | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = run_process("bash", "-c", pipe, SLUICE_CLICKHOUSE=engine.url)
    assert len(done.stdout.splitlines()) == 2
    assert (done.stdout.splitlines()[1], done.stderr) == ("0", "")


def test_what_the_server_formats_does_not_reach_a_terminal_raw() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for out, expected in ((Terminal(), 'a\t"\\x1b[2J\\r"\n'), (io.StringIO(), 'a\t"\x1b[2J\r"\n')):
        write_raw([b'a\t"\x1b[2J\r"\n'], out)
        assert out.getvalue() == expected


def test_csv(sql: Run) -> None:
    assert sql("SELECT 1 AS a, 'x,y' AS b", "-o", "csv").stdout == '"a","b"\n1,"x,y"\n'


def test_a_format_in_the_query_is_kept(sql: Run) -> None:
    assert sql("SELECT 1 AS a, 'ü' AS b FORMAT TSV").stdout == "1\tü\n"


@pytest.mark.parametrize("value", ["it's", "tab\tand\\slash", "100 %", "line\nbreak", ""])
def test_parameters(sql: Run, value: str) -> None:
    result = sql("SELECT {s:String} AS s", "--param", f"s={value}", "-o", "json")
    assert json.loads(result.stdout) == [{"s": value}], result.output


def test_a_query_from_standard_input_or_a_file(sql: Run, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT 7 AS n")
    assert json.loads(sql("-o", "json", stdin=b"SELECT 7 AS n").stdout) == [{"n": 7}]
    assert json.loads(sql("-o", "json", "--file", tmp_path / "q.sql").stdout) == [{"n": 7}]


def test_errors_of_the_server_are_one_line(sql: Run) -> None:
    for query, name in [
        ("SELEC 1", "SYNTAX_ERROR"),
        ("SELECT nothing FROM windows", "UNKNOWN_IDENTIFIER"),
        ("SELECT {x:UInt8}", "UNKNOWN_QUERY_PARAMETER"),
        ("SELECT throwIf(number = 3) FROM numbers(10)", "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO"),
    ]:
        result = sql(query)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
        assert result.stderr.startswith("Error: ClickHouse: ")
        assert name in result.stderr
        assert "version" not in result.stderr


def test_an_error_after_many_rows_is_no_half_result(sql: Run) -> None:
    result = sql("SELECT throwIf(number = 200000) FROM numbers(300000)", "-o", "csv")
    assert result.exit_code == 1
    assert result.stdout == ""


def test_the_user_can_only_read(sql: Run) -> None:
    for statement in ("INSERT INTO actuations (service) VALUES ('x')", "DROP TABLE windows", "CREATE DATABASE other"):
        result = sql(statement)
        assert result.exit_code == 1
        assert any(name in result.stderr for name in ("(READONLY)", "(ACCESS_DENIED)")), result.stderr


def test_every_recipe_of_the_cookbook_has_a_title_and_is_listed(sql: Run) -> None:
    assert recipes()
    out = sql("--list").stdout
    for shown in recipes():
        assert shown.title
        assert shown.name in out
    listed = json.loads(sql("--list", "-o", "json").stdout)
    assert [entry["name"] for entry in listed] == [recipe.name for recipe in recipes()]


def test_a_recipe_runs(sql: Run) -> None:
    result = sql("--recipe", "pools_now", "-o", "json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == []


def test_a_recipe_that_is_not_there_names_those_that_are(sql: Run) -> None:
    result = sql("--recipe", "nothing")
    assert result.exit_code == 1
    assert "no recipe 'nothing'; recipes: " in result.stderr
    assert "pools_now" in result.stderr


def test_recipes_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "b.sql").write_text("-- Title of b\n-- more\nSELECT 1")
    (tmp_path / "a.sql").write_text("SELECT 2")
    assert [(recipe.name, recipe.title) for recipe in recipes(tmp_path)] == [("a", ""), ("b", "Title of b")]
    assert recipe("b", tmp_path).query.endswith("SELECT 1")
    assert recipes(tmp_path / "none") == []


@pytest.mark.parametrize(
    "words", [("SELECT 1", "--recipe", "x"), ("  ",), ("SELECT 1", "--param", "x"), ("SELECT 1", "--rows", "-1")]
)
def test_wrong_usage(sql: Run, words: tuple[str, ...]) -> None:
    assert sql(*words).exit_code == 2


def test_a_server_that_is_not_there(run: Run) -> None:
    result = run("sql", "SELECT 1", SLUICE_CLICKHOUSE="http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "cannot reach ClickHouse at http://127.0.0.1:1: connection refused" in result.stderr


def test_an_address_that_is_no_url_is_named(run: Run) -> None:
    result = run("sql", "SELECT 1", SLUICE_CLICKHOUSE="tcp://127.0.0.1:9")
    assert result.exit_code == 1
    assert "cannot reach ClickHouse at tcp://127.0.0.1:9: " in result.stderr


def answered(run: Run, form: str, headers: dict[str, str], body: bytes) -> Result:
    """Of a query on a server that answers so, with HTTP 200."""

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        return run("sql", "SELECT 1", "-o", form, SLUICE_CLICKHOUSE=f"http://127.0.0.1:{server.server_port}")


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_an_answer_that_is_cut_off_is_an_error(run: Run, form: str) -> None:
    result = answered(run, form, {"Content-Length": "1000"}, b'["a"]\n["String"]\n["x"]\n["y')
    assert result.exit_code == 1
    assert "broke: " in result.stderr


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_an_answer_without_a_byte_is_an_error_where_the_server_has_rows(run: Run, form: str) -> None:
    """So a ClickHouse answers whose disk is full."""
    summary = '{"read_rows":"10","result_rows":"1","elapsed_ns":"5"}'
    result = answered(run, form, {"X-ClickHouse-Summary": summary, "Content-Length": "0"}, b"")
    assert result.exit_code == 1
    assert "answered a query with nothing" in result.stderr


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_a_statement_without_a_result_is_no_error(sql: Run, form: str) -> None:
    assert sql("SET max_threads = 1", "-o", form).exit_code == 0


def test_one_line() -> None:
    text = "Code: 47. DB::Exception: Unknown expression identifier `x` in\n scope SELECT x. (UNKNOWN_IDENTIFIER)"
    text += " (version 26.7.2.1 (official build))"
    assert one_line(text, 404) == "Unknown expression identifier `x` in scope SELECT x. (UNKNOWN_IDENTIFIER)"
    assert one_line("", 502) == "HTTP 502"
    assert len(one_line("x" * 5000, 500)) < 500
