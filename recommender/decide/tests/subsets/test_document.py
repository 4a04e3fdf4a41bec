"""The JSON of applications and solutions."""

import json
from pathlib import Path
from typing import Any

import pytest

from sluice.subsets.application import Call
from sluice.subsets.document.application import read_application
from sluice.subsets.document.files import load_application
from sluice.subsets.document.samples import read_samples
from sluice.subsets.document.solution import read_solution, solution_object
from sluice.subsets.legal import IllegalSubsetsError
from sluice.subsets.strategy_result import answer

EXAMPLE = Path(__file__).parents[3] / "examples/shop.json"
HEADER = "service,rate_per_s,cpu,memory_bandwidth,network,mu,sigma\n"


def small() -> dict[str, Any]:
    return {
        "hosts": [{"name": "h1", "cpu": 0.35, "memory_bandwidth": 0.2, "network": 0.1}],
        "services": [
            {"name": "a", "containers": [{"name": "a-1", "host": "h1", "address": "10.0.0.1:80"}]},
            {"name": "b", "containers": [{"name": "b-1", "host": "h1"}, {"name": "b-2", "host": "h1"}]},
        ],
        "roots": [
            {"name": "read", "rate_per_s": 500, "tree": {"service": "a", "stages": [[{"service": "b", "calls": 2.0}]]}}
        ],
    }


def test_reads_what_stands_there() -> None:
    document = read_application({**small(), "quota": 2, "percentile": 0.99, "microns": {"weights": False}})
    assert document.application.hosts[0].memory_bandwidth == 0.2
    assert document.application.services[0].containers[0].address == "10.0.0.1:80"
    assert document.application.roots[0].tree == Call("a", ((Call("b", calls=2.0),),))
    assert (document.application.quota, document.application.min_subset, document.application.percentile) == (
        2,
        2,
        0.99,
    )
    assert not document.settings.weights


def test_what_means_nothing_is_named() -> None:
    document = small()
    document["quata"] = 5
    document["hosts"][0]["rack"] = "r1"
    assert read_application(document).ignored == ("quata", "hosts[0].rack")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("hosts",), None, "hosts is missing; legal: a list of objects"),
        (("hosts", 0, "cpu"), "much", "hosts[0].cpu 'much' is not legal; legal: a number"),
        (("hosts", 0, "cpu"), True, "hosts[0].cpu True is not legal; legal: a number"),
        (("services", 0, "name"), 5, "services[0].name 5 is not legal; legal: a text"),
        (("services", 1, "containers", 0, "host"), None, "services[1].containers[0].host is missing"),
        (("roots", 0, "tree"), None, "roots[0].tree is missing"),
        (("roots", 0, "tree", "stages"), [{"service": "b"}], "roots[0].tree.stages [{'service': 'b'}] is not legal"),
        (("quota",), 3.5, "quota 3.5 is not legal; legal: a whole number"),
        (("latency",), "samples.csv", "latency 'samples.csv' is not legal; legal: an object"),
    ],
)
def test_a_wrong_type_is_named_by_its_path(path: tuple[Any, ...], value: Any, message: str) -> None:
    document: Any = small()
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(IllegalSubsetsError) as error:
        read_application(document)
    assert message in str(error.value)


def test_a_tree_that_is_too_deep_is_no_crash() -> None:
    document = small()
    tree: dict[str, Any] = {"service": "b"}
    for _ in range(500):
        tree = {"service": "a", "stages": [[tree]]}
    document["roots"][0]["tree"] = tree
    with pytest.raises(IllegalSubsetsError, match="legal: up to 200"):
        read_application(document)


def test_samples_by_service_in_an_order_of_their_own() -> None:
    lines = [HEADER, "b,10,0.1,0.2,0.3,1.5,0.4\n", "a,5,0.5,0,0,2,0.1\n", "b,2,0.1,0.2,0.3,1,0.4\n"]
    samples = read_samples(lines, "samples.csv")
    assert list(samples) == ["a", "b"]
    assert samples["b"].rate_per_s.tolist() == [2, 10]
    assert samples["b"].contention.tolist() == [[0.1, 0.2, 0.3]] * 2


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["service,rate_per_s\n"], "samples.csv: the header has no column 'cpu'"),
        ([HEADER, "a,5,0.5,0,0,2\n"], "samples.csv, line 2: 6 columns"),
        ([HEADER, "a,5,1.5,0,0,2,0.1\n"], "line 2: cpu '1.5' is not legal; legal: 0 to 1"),
        ([HEADER, "a,-5,0.5,0,0,2,0.1\n"], "line 2: rate_per_s '-5' is not legal; legal: 0 or more"),
        ([HEADER, "a,5,0.5,0,0,nan,0.1\n"], "line 2: mu 'nan' is not legal; legal: a number"),
    ],
)
def test_bad_samples_are_named_by_line(lines: list[str], message: str) -> None:
    with pytest.raises(IllegalSubsetsError) as error:
        read_samples(lines, "samples.csv")
    assert message in str(error.value)


def test_a_solution_reads_as_it_was_written() -> None:
    document, samples = load_application(EXAMPLE)
    result = answer(document.application, "aperture", samples)
    written = json.loads(json.dumps(solution_object(result)))
    ends = read_solution(written)
    assert sum(map(len, ends.values())) == written["connections"] == sum(pair["quota"] for pair in written["pairs"])
    again = answer(document.application, "aperture", samples, previous=ends)
    assert again.churn == 0
    other = answer(document.application, "sre", samples, previous=ends)
    assert 0 < other.churn <= 1


def test_the_documented_keys_are_there() -> None:
    document, samples = load_application(EXAMPLE)
    shown = solution_object(answer(document.application, "full", samples))
    assert {"strategy", "pairs", "predicted_ms", "iterations", "churn"} <= shown.keys()
    assert {"upstream", "downstream", "quota", "predicted_ms", "connections"} <= shown["pairs"][0].keys()
    assert shown["pairs"][0]["connections"][0].keys() == {"from", "to", "weight"}
    assert shown["predicted_ms"] > 0


def test_without_samples_nothing_is_predicted() -> None:
    shown = solution_object(answer(read_application(small()).application, "full", {}))
    assert shown["predicted_ms"] is None
    assert shown["pairs"][0]["predicted_ms"] is None
    assert any("no latency samples" in note for note in shown["notes"])
