"""Free ports of the loopback interface."""

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """`count` different TCP ports that nothing listens on at this moment."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        return [sock.getsockname()[1] for sock in sockets]
