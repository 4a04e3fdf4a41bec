"""Files of configuration and of tuning whose text was changed anywhere: legal, or told what is wrong."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice.config import Config, ConfigError
from sluice.config.load import parse
from sluice.document import parse_as
from sluice.tuning.application import load
from sluice_kit.hostile import TEXTS

TESTS = Path(__file__).resolve().parents[1]
CONFIGS = [TESTS.parents[2] / "deploy/local/sluice.yaml", *sorted((TESTS / "config/bad").glob("*.yaml"))]
SESSIONS = [TESTS / "tuning/shop.yaml", *sorted((TESTS / "tuning/bad").glob("*.yaml"))]
PIECES = (
    "&a ", "*a", "<<: *a", "!!int ", "!!python/name:os.system ", "!!binary ", "!!set ", "{", "}", "[", "]", ": ", "- ",
    "? ", "|\n", ">-\n", "%YAML 9.9\n", "---\n", "...\n", "#", "'", '"', "\t", ".nan", "-.inf", "1e999",
    "0x" + "f" * 9_000, "9" * 9_000, "2026-13-01", "190:20:30", "~", "null", "yes", *TEXTS,
)  # fmt: skip
EXAMPLES = int(os.environ.get("SLUICE_HOSTILE_EXAMPLES", "100"))


def changed(draw: random.Random, text: str) -> str:
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(text) + 1)
        until = at + draw.choice((0, 0, 1, 5, 40))
        match draw.randrange(4):
            case 0:
                text = text[:at] + draw.choice(PIECES) + text[until:]
            case 1:
                text = text[:at] + text[until:]
            case 2:
                text = text[:at] + text[at:until] + text[at:]
            case _:
                words = text.split(" ")
                words[draw.randrange(len(words))] = draw.choice(PIECES)
                text = " ".join(words)
    return text


def told(read: Callable[[], object]) -> str:
    """What the file is told; empty where it is legal."""
    try:
        read()
    except ConfigError as cause:
        return str(cause)
    return ""


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(CONFIGS), st.randoms(use_true_random=False))
def test_a_changed_configuration(file: Path, draw: random.Random) -> None:
    text = changed(draw, file.read_text())
    assert len(told(lambda: parse(text, "sluice.yaml"))) < 100_000


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(file=st.sampled_from(SESSIONS), draw=st.randoms(use_true_random=False))
def test_a_changed_file_of_tuning(tmp_path: Path, file: Path, draw: random.Random) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(changed(draw, file.read_text()))
    assert len(told(lambda: load(path, "first"))) < 100_000


@pytest.mark.parametrize(
    "text",
    [
        "pools: 0x" + "f" * 9_000,
        "pools: [{service: a, side: server, threshold: 0x" + "f" * 9_000 + "}]",
        "pools: [{service: a, side: server, bounds: {min: 0x" + "f" * 9_000 + "}}]",
        "a: !!timestamp 9999999-01-01",
        "a: !!int ''",
        "pools: " + "x" * 10**6,
        "pools: " + "[" * 5_000,
    ],
    ids=lambda text: text[:60],
)
def test_values_that_python_refuses_are_told_in_short(text: str) -> None:
    """Each but the last two raised an error that a reload does not expect."""
    assert 0 < len(told(lambda: parse(text, "sluice.yaml"))) < 3_000


@pytest.mark.timeout(60)
def test_aliases_of_aliases_are_refused() -> None:
    """500 bytes that stand for 4 * 10^8 values, which an error wrote out."""
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]", *(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))]
    with pytest.raises(ConfigError, match="values, more than 100,000"):
        parse_as(Config, "\n".join([*lines, "pools: *a8"]), "sluice.yaml", "pools")
    with pytest.raises(ConfigError, match="within its own anchor"):
        parse_as(Config, "pools: &a [*a]", "sluice.yaml", "pools")
    assert yaml.safe_load("a: &a [1]\nb: *a") == {"a": [1], "b": [1]}


def test_as_many_pools_as_are_written_out_are_read() -> None:
    pools = "".join(f"  - {{service: s{n}, side: server, bounds: {{min: 1, max: 9}}}}\n" for n in range(10_000))
    assert len(parse_as(Config, f"pools:\n{pools}", "sluice.yaml", "pools").pools) == 10_000
