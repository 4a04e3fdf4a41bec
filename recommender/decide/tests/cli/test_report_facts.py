"""What spans are in `sluice report`: the attributes are those of the streaming jobs, errors and rules follow them."""

import csv
from pathlib import Path

import pytest

from sluice.cli.output import CliError
from sluice.cli.traces.report.facts import attributes, errors
from sluice.cli.traces.report.facts.addresses import located
from sluice.cli.traces.report.facts.attributes import SOURCES, Value
from sluice.cli.traces.report.facts.errors import is_error
from sluice.cli.traces.report.facts.facts import CLIENT, SERVER, Description, Resource, facts_of, threshold_of
from sluice.cli.traces.report.facts.rules import HELD, LEFT_OUT, WAITING, Rules, read_rules
from sluice_kit.reference import errors as reference_errors
from sluice_kit.reference import peer_names

from .report_spans import RULES

TABLE = RULES.parent / "functions/src/main/resources/dev/sluice/otlp/attributes.csv"


def of_role(*roles: str) -> list[tuple[str, str, int]]:
    """(attribute, role, rank) of the streaming jobs' table, the best first."""
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    rows = [row for row in csv.DictReader(lines) if row["role"] in roles]
    return sorted(((row["attribute"], row["role"], int(row["rank"])) for row in rows), key=lambda row: row[2])


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("service", attributes.SERVICE),
        ("instance", attributes.INSTANCE),
        ("host", attributes.HOST),
        ("peer", attributes.PEER),
        ("namespace", attributes.NAMESPACE),
        ("http_code", attributes.HTTP_CODE),
        ("rpc_code", attributes.RPC_CODE),
    ],
)
def test_attributes_are_those_of_the_streaming_jobs(role: str, names: tuple[str, ...]) -> None:
    assert tuple(name for name, _, _ in of_role(role)) == names


def test_addresses_are_those_of_the_streaming_jobs() -> None:
    ports = {rank: name for name, _, rank in of_role("port")}
    assert [(name, ports.get(rank, ""), role == "location") for name, role, rank in of_role("address", "location")] == [
        tuple(source) for source in SOURCES
    ]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "http://pay:8081/v1?x=1",
            "https://user:secret@[::1]:8443/",
            "pay:80",
            "pay",
            "::1",
            "[fe80::1]:90",
            "/tmp/s",
        ),
        *("outbound|9080||reviews.default.svc", "a|b", "Server=tcp:db.example,1433;Database=x", "host=db port=5433"),
        *("mongodb://a:1,b:2/x", "", "key=value", "pay:99999", "pay:0x50", "/run/s"),
    ],
)
def test_an_address_in_a_text_is_found_as_by_the_reference(text: str) -> None:
    assert located(text) == peer_names.located(text)


@pytest.mark.parametrize(
    ("name", "value", "failed", "error"),
    [
        ("http.response.status_code", 404, True, False),
        ("http.response.status_code", 429, False, True),
        ("http.status_code", "503", False, True),
        ("http.status_code", "5xx", False, False),
        ("http.status_code", 200, True, True),
        ("rpc.grpc.status_code", 5, True, False),
        ("rpc.grpc.status_code", 14, False, True),
        ("rpc.response.status_code", "unavailable", False, True),
        ("rpc.response.status_code", "canceled", True, False),
        ("rpc.response.status_code", 99, True, True),
    ],
)
def test_a_code_says_whose_fault_it_was(name: str, value: Value, failed: bool, error: bool) -> None:
    assert is_error(failed, {name: value}) is error


def test_the_codes_of_rpc_are_the_references() -> None:
    assert reference_errors.CODES == errors.CODES
    assert reference_errors.FAULTS == errors.FAULTS
    assert reference_errors.OF_CALLERS == errors.OF_CALLERS


SHOP = Resource("shop", "shop-0", "")


def use(said: Description, rules: Rules | None = None) -> tuple[int, str]:
    facts = facts_of(SHOP, said, read_rules(RULES) if rules is None else rules)
    return facts.use, facts.rule


def test_the_shipped_rules() -> None:
    assert use(Description(SERVER, "GET", "", False, (("url.path", "/healthz"),))) == (LEFT_OUT, "probe-path")
    assert use(Description(SERVER, "GET", "", False, (("http.target", "/livez?verbose"),))) == (LEFT_OUT, "probe-path")
    assert use(Description(CLIENT, "pg-pool.connect", "", False, ()))[0] == WAITING
    assert use(Description(SERVER, "GET", "", False, (("url.path", "/cart"),))) == (HELD, "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[rule]]\naction = 1", "action 1 is not legal"),
        ('[[rule]]\naction = "count"\nserivce = "a"', "key 'serivce' is not legal"),
        ("rule = 1", "rule is not a list of tables"),
        ("[[rule", "cannot read span rules"),
        ('[[rule]]\naction = "count"\npath = 5', "path 5 is not legal"),
        ("rule = [5]", "rule 1 is not a table"),
        ('[[rule]]\naction = "count"\nattributes = "x"', "attributes 'x' is not legal"),
    ],
)
def test_an_illegal_rule_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(CliError, match=words):
        read_rules(path)


def test_a_missing_file_of_rules_is_named(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="No such file"):
        read_rules(tmp_path / "none.toml")


def test_sampling_probability() -> None:
    def probability(*pairs: tuple[str, Value]) -> float:
        return facts_of(SHOP, Description(SERVER, "GET", "", False, pairs), Rules()).probability

    assert threshold_of("vendor=1,ot=rv:abc;th:c") == "c"
    assert probability(("tracestate.ot.th", "8")) == 0.5
    assert probability(("tracestate.ot.th", "c")) == 0.25
    assert probability(("tracestate.ot.th", "0")) == 1.0
    assert probability(("tracestate.ot.th", "no")) == 0.0
    assert probability(("sampler.type", "probabilistic"), ("sampler.param", 0.1)) == 0.1
    assert probability(("sampler.type", "const"), ("sampler.param", True)) == 0.0
    assert probability(("SampleRate", 20)) == 0.05
    assert probability(("sampling.probability", "0.5"), ("SampleRate", 0)) == 0.5
    assert probability(("sampling.probability", "often")) == 0.0
