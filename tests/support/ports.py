"""Free ports of the loopback interface."""

import random
import socket
from contextlib import ExitStack

# Below those that Linux gives to who connects (ip_local_port_range begins at 32768), above most that are known.
KEPT = range(15_000, 25_000)


def free_ports(count: int) -> list[int]:
    """`count` different TCP ports that nothing listens on at this moment."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def restart_ports(count: int) -> list[int]:
    """The same for what is restarted under load: none that a connection of others may have while nothing listens.
    OSError: there are not so many."""
    found: list[int] = []
    with ExitStack() as held:
        for port in random.sample(KEPT, len(KEPT)):
            one = held.enter_context(socket.socket())
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
            if len(found) == count:
                return found
    raise OSError(f"{count} free ports in {KEPT.start} to {KEPT.stop - 1}: there are {len(found)}")
