"""Completion, by a real bash and by what the program answers to any shell."""

import shlex
from pathlib import Path

import pytest

from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_pb2 import SIDE_CLIENT, SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import PoolSize

from .pool_server import PoolServer
from .processes import command, run

REPOSITORY = Path(__file__).resolve().parents[4]
LAUNCHER = REPOSITORY / "sluice"


def completed(*words: str, **variables: str) -> list[str]:
    """What bash offers for the last of `words`, after its script was taken in as the help says."""
    script = f"""
eval "$({LAUNCHER} completion bash)"
[[ $(complete -p sluice) == *' -F _sluice_completion sluice' ]] || exit 1
COMP_WORDS=({shlex.join((str(LAUNCHER), *words))})
COMP_CWORD={len(words)}
_sluice_completion {LAUNCHER}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = run("bash", "-c", script, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_commands_options_and_their_values() -> None:
    assert completed("po") == ["pools"]
    assert completed("critical") == ["critical-path", "critical-service"]
    assert completed("pools", "") == [
        "apply", "diff", "discover", "explain", "get", "history", "list", "pause", "resume", "watch",
    ]  # fmt: skip
    assert completed("pools", "list", "--ser") == ["--service"]
    assert completed("pools", "list", "-o", "") == ["table", "json", "yaml", "jsonl"]
    assert "pools_now" in completed("sql", "--recipe", "")


def test_names_of_pools_but_none_that_a_shell_would_expand(pool_server: PoolServer) -> None:
    pools = [
        Pool(service="cart", side=SIDE_SERVER),
        Pool(service="cart", side=SIDE_CLIENT, peer="cart-db"),
        Pool(service="$(touch x)", side=SIDE_SERVER),
        Pool(service="a b", side=SIDE_SERVER),
        Pool(service="catalogue", side=SIDE_SERVER),
    ]
    pool_server.explanations = [Explanation(pool_size=PoolSize(pool=pool)) for pool in pools]
    where = {"SLUICE_RECOMMENDER": pool_server.address}
    assert completed("pools", "get", "", **where) == ["cart/client/cart-db", "cart/server", "catalogue/server"]
    assert completed("pools", "explain", "cart/s", **where) == ["cart/server"]
    assert completed("pools", "list", "--service", "cat", **where) == ["catalogue"]


def test_without_a_recommender_there_are_no_names_and_no_errors() -> None:
    assert completed("pools", "get", "", SLUICE_RECOMMENDER="127.0.0.1:1") == []


@pytest.mark.parametrize(
    ("shell", "words", "cword", "answer"),
    [
        ("zsh", "sluice do", "1", "plain\ndoctor\nCheck each stage, from collector to actuator"),
        ("fish", "sluice do", "do", "plain,doctor\tCheck each stage, from collector to actuator"),
    ],
)
def test_the_program_answers_zsh_and_fish(shell: str, words: str, cword: str, answer: str) -> None:
    environment = {"COMP_WORDS": words, "COMP_CWORD": cword, "_SLUICE_COMPLETE": f"{shell}_complete"}
    done = run(*command(), **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(answer)


@pytest.mark.parametrize("line", ["replay", "report", "critical-path", "estimate --pairs", "sql --file"])
def test_files_are_left_to_the_shell(line: str) -> None:
    words = f"sluice {line} "
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split())), "_SLUICE_COMPLETE": "bash_complete"}
    assert run(*command(), **environment).stdout == "file,\n"


def test_every_shell_has_a_script() -> None:
    for shell in ("bash", "zsh", "fish"):
        done = run(*command("completion", shell))
        assert done.returncode == 0
        assert f"_SLUICE_COMPLETE={shell}_complete" in done.stdout
    assert run(*command("completion", "csh")).returncode == 2
