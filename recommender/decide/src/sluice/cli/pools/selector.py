"""Parses names of pools on the command line: SERVICE, SERVICE/server, SERVICE/consumer, SERVICE/client/PEER."""

import shlex
from dataclasses import dataclass

from sluice.pools.v1.pool_pb2 import SIDE_CLIENT, SIDE_CONSUMER, SIDE_SERVER, Pool

SIDES = {"server": SIDE_SERVER, "client": SIDE_CLIENT, "consumer": SIDE_CONSUMER}
_NAMES = {number: side for side, number in SIDES.items()}


class SelectorError(ValueError):
    """The text does not name a pool. The message has the text and the legal forms."""


@dataclass(frozen=True)
class Selector:
    """The pool of a command. side: None where the command names none."""

    service: str
    side: str | None
    peer: str

    def pool(self) -> Pool:
        return Pool(service=self.service, side=SIDES[self.side or "server"], peer=self.peer)


def parse_selector(text: str, side: str | None, peer: str | None) -> Selector:
    """Parses `text` together with the options --side and --peer.

    Slashes before anything but a side belong to the service's name. Raises SelectorError when the parts contradict
    each other or a client pool has no peer.
    """
    service, said_side, said_peer = _split(text)
    if not service:
        raise SelectorError(
            f"{text!r} has no service; write SERVICE, SERVICE/server, SERVICE/consumer or SERVICE/client/PEER"
        )
    if said_side and side and side != said_side:
        raise SelectorError(f"--side {side} contradicts {text!r}")
    if said_peer and peer and peer != said_peer:
        raise SelectorError(f"--peer {peer} contradicts {text!r}")
    side, peer = said_side or side, said_peer or peer or ""
    if peer and side is None:
        side = "client"
    if side in ("server", "consumer") and peer:
        raise SelectorError(f"a {side} pool has no peer, but the command names {peer!r}")
    if side == "client" and not peer:
        raise SelectorError(f"a client pool needs its peer: {service}/client/PEER, or --peer PEER")
    return Selector(service, side, peer)


def _split(text: str) -> tuple[str, str | None, str]:
    for side in ("server", "consumer"):
        if text.endswith("/" + side):
            return text.removesuffix("/" + side), side, ""
    service, slash, peer = text.partition("/client/")
    if slash:
        return service, "client", peer
    if text.endswith("/client"):
        return text.removesuffix("/client"), "client", ""
    return text, None, ""


def pool_name(pool: Pool) -> str:
    """The pool's name in the form that `parse_selector` reads."""
    if pool.side == SIDE_CLIENT:
        return f"{pool.service}/client/{pool.peer}"
    return f"{pool.service}/{side_name(pool)}"


def shell_word(pool: Pool) -> str:
    """The pool's name as one word of a shell, for a command that people copy: senders of spans choose names."""
    return shlex.quote(pool_name(pool))


def side_name(pool: Pool) -> str:
    """The side as --side and tables have it; server where a later version has another side."""
    return _NAMES.get(pool.side, "server")
