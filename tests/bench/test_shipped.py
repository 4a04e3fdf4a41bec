"""Benchmarks of the whole stack measure what ships: their stack differs from it by ports and state directory alone."""

import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_only_ports_and_state_differ_from_what_ships():
    shipped = tomllib.loads((REPOSITORY / "tests/bench/shipped.toml").read_text())
    tests = tomllib.loads((REPOSITORY / "tests/stack/stack.toml").read_text())
    assert shipped == {"state": tests["state"], "ports": tests["ports"]}


def test_make_bench_takes_it():
    assert "SLUICE_TEST_STACK=tests/bench/shipped.toml" in (REPOSITORY / "Makefile").read_text()
