"""Free ports of the loopback interface."""

import random
import socket
from contextlib import ExitStack

# Above the ports of the local stack and below those of the tests' stack, and of what Linux gives a connection (32768
# and more): there another connection may have a port before the server that it was meant for.
RANGE = range(14_000, 23_000)
_random = random.SystemRandom()


def free_ports(count: int) -> list[int]:
    """`count` different TCP ports that nothing has at this moment."""
    with ExitStack() as held:
        ports: list[int] = []
        for port in _random.sample(RANGE, len(RANGE)):
            if len(ports) == count:
                break
            sock = held.enter_context(socket.socket())
            try:
                sock.bind(("127.0.0.1", port))
            except OSError:
                continue
            ports.append(port)
        if len(ports) < count:
            raise OSError(f"find {count} free ports from {RANGE[0]} to {RANGE[-1]}: {len(ports)} are free")
        return ports
