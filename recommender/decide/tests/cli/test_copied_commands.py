"""A command that is printed for copying is one command, whatever the pool's name: senders of spans choose names."""

import re
import subprocess
from collections.abc import Callable

import pytest
from click.testing import Result

from sluice.cli.pools.selector import parse_selector
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_pb2 import SIDE_CLIENT, Pool
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice_kit.hostile import TEXTS

from .pool_server import PoolServer

MORE = ("a b", "a;reboot", "a&&b|c>d", "'", '"', "\\", "!!", "*", "~", "a'$(id)'b", "🧵", "x" * 10_000)


@pytest.mark.parametrize("name", [text for text in (*TEXTS, *MORE) if text.strip()], ids=lambda name: ascii(name)[:30])
def test_the_command_names_the_pool(run: Callable[..., Result], pool_server: PoolServer, name: str) -> None:
    pool = Pool(service=name, side=SIDE_CLIENT, peer=name)
    size = PoolSize(pool=pool, unguarded_target=8)
    pool_server.explanations = [Explanation(pool_size=size)]
    done = run("pools", "apply", f"{name}/client/{name}", "--address", pool_server.address)
    assert done.exit_code == 0, done.output
    found = re.search(r"until `sluice (.*)`$", done.stdout.splitlines()[0])
    assert found
    line = found[1]
    script = f"sluice() {{ printf '%s\\0' \"$@\"; }}\nsluice {line}"
    shell = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert shell.stderr == b""
    words = shell.stdout.decode().split("\0")[:-1]
    assert words[:2] == ["pools", "resume"]
    assert len(words) == 3
    if name.isprintable():
        assert parse_selector(words[2], None, None).pool() == pool
