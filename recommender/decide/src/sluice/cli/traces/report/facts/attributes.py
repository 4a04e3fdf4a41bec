"""The attributes that say what a span is, by role, the best first. They are those of the streaming jobs'
`attributes.csv`; a test compares the two."""

from collections.abc import Mapping
from typing import NamedTuple

#: The value of an attribute; other types count as absent.
Value = str | bool | int | float
Attributes = Mapping[str, Value]

SERVICE = ("service.name",)
INSTANCE = ("service.instance.id", "k8s.pod.name", "container.id", "host.name")
HOST = ("k8s.node.name", "host.id", "host.name")
PEER = ("service.peer.name", "peer.service")
NAMESPACE = ("db.namespace", "db.name")
HTTP_CODE = ("http.response.status_code", "http.status_code")
RPC_CODE = (
    "rpc.status_code",
    "rpc.response.status_code",
    "rpc.grpc.status_code",
    "rpc.connect_rpc.error_code",
    "grpc.status_code",
)
PATH = ("url.path", "http.target", "http.route")
USER_AGENT = ("user_agent.original", "http.user_agent", "user_agent")
#: How probable it was that a trace was kept.
SAMPLING = ("sampler.type", "sampler.param", "SampleRate", "sampling.probability")


class PeerSource(NamedTuple):
    """An attribute with an address, or with a text in which an address stands; the attribute with the port."""

    attribute: str
    port: str = ""
    in_text: bool = False


SOURCES = (
    PeerSource("server.address", "server.port"),
    PeerSource("net.peer.name", "net.peer.port"),
    PeerSource("upstream_cluster.name", in_text=True),
    PeerSource("upstream_cluster", in_text=True),
    PeerSource("url.full", in_text=True),
    PeerSource("http.url", in_text=True),
    PeerSource("http.host", in_text=True),
    PeerSource("db.connection_string", in_text=True),
    PeerSource("net.sock.peer.name", "net.sock.peer.port"),
    PeerSource("network.peer.address", "network.peer.port"),
    PeerSource("net.peer.ip", "net.peer.port"),
    PeerSource("net.sock.peer.addr", "net.sock.peer.port"),
    PeerSource("peer.hostname", "peer.port"),
    PeerSource("upstream_address", in_text=True),
    PeerSource("peer.address", in_text=True),
    PeerSource("peer.ipv4", "peer.port"),
    PeerSource("peer.ipv6", "peer.port"),
)
#: Attributes that say whom a CLIENT or PRODUCER span called.
OF_CALLERS = frozenset(
    {
        *PEER,
        *NAMESPACE,
        *(source.attribute for source in SOURCES),
        *(source.port for source in SOURCES if source.port),
    }
)
#: Attributes of any span that the report reads, besides those that rules name.
OF_ALL = frozenset({*HTTP_CODE, *RPC_CODE, *SAMPLING})
#: Attributes of a resource that the report reads.
OF_RESOURCES = frozenset({*SERVICE, *INSTANCE, *HOST})
_MOST_BYTES = 256


def cut(name: str) -> str:
    """At most 256 bytes of UTF-8; no character is split."""
    if len(name) * 4 <= _MOST_BYTES:
        return name
    return name.encode(errors="replace")[:_MOST_BYTES].decode(errors="ignore")


def first_text(attributes: Attributes, names: tuple[str, ...]) -> str:
    """The value of the first attribute that is a text and not empty, cut; else ""."""
    for name in names:
        value = attributes.get(name)
        if value and isinstance(value, str):
            return cut(value)
    return ""
