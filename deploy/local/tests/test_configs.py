"""Configuration files: every placeholder is filled, and what is taken from Flink is found."""

import re

import pytest

from stack.configs import RENDERED, cluster_id, names, render, shipped_java_options
from stack.layout import LOCAL
from stack.settings import load


@pytest.mark.parametrize("name", RENDERED)
def test_every_template_renders_with_the_settings(name: str) -> None:
    settings = load({})
    text = render((LOCAL / name).read_text(), names(settings, "--add-exports=x"))
    assert "${" not in text
    assert settings.host in text or "users" in name


def test_a_placeholder_that_nothing_fills_is_an_error() -> None:
    with pytest.raises(KeyError, match="unheard_of"):
        render("${unheard_of}", {})


@pytest.mark.parametrize(
    "config",
    [
        "env:\n  java:\n    opts:\n      all: --add-exports=a=b --add-opens=c\n",
        "env.java.opts.all: --add-exports=a=b --add-opens=c",
    ],
)
def test_flinks_java_options_are_found_nested_and_flat(config: str) -> None:
    assert shipped_java_options(config) == "--add-exports=a=b --add-opens=c"


def test_no_process_of_flink_answers_on_a_connection_that_the_other_began() -> None:
    """What goes wrong else: tests/soak/test_worker_is_back.py."""
    lines = (LOCAL / "flink/config.yaml").read_text().splitlines()
    options = {key: value for key, _, value in (line.partition(": ") for line in lines)}
    for process in ("jobmanager", "taskmanager"):
        assert "-Dpekko.remote.classic.use-passive-connections=off" in options[f"env.java.opts.{process}"].split()


def test_no_cluster_id_looks_like_an_option() -> None:
    assert all(re.fullmatch(r"[\w][\w-]{21}", cluster_id()) for _ in range(1000))
