"""Who a client span's attributes say it talks to: the names of `attributes.csv`, read from the comments there."""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import NamedTuple

from opentelemetry.proto.common.v1.common_pb2 import KeyValue

PEER = ("service.peer.name", "peer.service")
NAMESPACE = ("db.namespace", "db.name")


class Source(NamedTuple):
    """An attribute that holds an address, or a text in which one `stands`, and that of the port."""

    attribute: str
    port: str = ""
    stands: bool = False


#: The best first.
SOURCES = (
    Source("server.address", "server.port"),
    Source("net.peer.name", "net.peer.port"),
    Source("upstream_cluster.name", stands=True),
    Source("upstream_cluster", stands=True),
    Source("url.full", stands=True),
    Source("http.url", stands=True),
    Source("http.host", stands=True),
    Source("db.connection_string", stands=True),
    Source("net.sock.peer.name", "net.sock.peer.port"),
    Source("network.peer.address", "network.peer.port"),
    Source("net.peer.ip", "net.peer.port"),
    Source("net.sock.peer.addr", "net.sock.peer.port"),
    Source("peer.hostname", "peer.port"),
    Source("upstream_address", stands=True),
    Source("peer.address", stands=True),
    Source("peer.ipv4", "peer.port"),
    Source("peer.ipv6", "peer.port"),
)
#: Not said of an address that is the name of a host.
USUAL_PORTS = {80, 443, 8080, 50051, 1433, 1521, 3306, 5432, 6379, 9042, 9200, 11211, 27017, 5672, 9092}


def cut(name: str) -> str:
    """At most 256 bytes of UTF-8, no character split."""
    return name.encode()[:256].decode(errors="ignore")


def first_text(attributes: Iterable[KeyValue], names: tuple[str, ...]) -> str:
    """The first name that has a text which is not empty, cut."""
    for name in names:
        for attribute in attributes:
            if attribute.key == name and attribute.value.string_value:
                return cut(attribute.value.string_value)
    return ""


def address(attributes: Iterable[KeyValue]) -> str:
    """`host:port/namespace`, without the port where it is a usual one, or not said; "" when nothing locates it.

    Of several texts in which an address stands only the best counts, and only when it is better than all addresses.
    """
    stated = [source for source in SOURCES if first_text(attributes, (source.attribute,))]
    standing = next((source for source in stated if source.stands), None)
    plain = next((source for source in stated if not source.stands), None)
    for source in stated:
        if source not in (standing, plain):
            continue
        text = first_text(attributes, (source.attribute,))
        host, port = located(text) if source.stands else (text, _port(attributes, source.port))
        if host:
            return _written(host, port, first_text(attributes, NAMESPACE))
    return ""


def located(text: str) -> tuple[str, int]:
    """The host and port to which a URL, a host header, a connection string or an Envoy cluster leads; 0: none."""
    if url := re.match(r".*?://([^/?#;]*)", text, re.DOTALL):
        return _host_and_port(url[1].rsplit("@", 1)[-1].split(",", 1)[0])
    if "|" in text:
        istio = re.fullmatch(r"[^|]*\|([^|]*)\|\|([^|]+)", text)
        return (istio[2], _number(istio[1])) if istio else (text, 0)
    keyed = re.search(r"(?:^|[;\s])(?:server|host|data source|address|addr)\s*=\s*(?:tcp:)?([^;\s]+)", text, re.I)
    if keyed:
        host, port = _host_and_port(keyed[1].replace(",", ":"))
        stated = re.search(r"(?:^|[;\s])port\s*=\s*(\d+)", text, re.I)
        return host, port or (_number(stated[1]) if stated else 0)
    return ("", 0) if "=" in text else _host_and_port(text)


def _host_and_port(text: str) -> tuple[str, int]:
    if text.startswith("/"):
        return "", 0
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        return (host, _number(rest[1:])) if closed else ("", 0)
    host, colon, port = text.partition(":")
    return (text, 0) if ":" in port or not colon else (host, _number(port))


def _port(attributes: Iterable[KeyValue], name: str) -> int:
    """The last one, number or text, counts."""
    port = 0
    for attribute in attributes:
        if attribute.key == name:
            value = attribute.value
            port = _number(value.string_value or str(value.int_value))
    return port


def _number(text: str) -> int:
    return int(text) if re.fullmatch("[0-9]{1,9}", text) and 0 < int(text) < 1 << 16 else 0


def _written(host: str, port: int, namespace: str) -> str:
    host = cut(host)
    if port and not (port in USUAL_PORTS and _is_name(host)):
        host = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return f"{host}/{namespace}" if namespace else host


def _is_name(host: str) -> bool:
    if host == "localhost" or ":" in host or not host.strip("0123456789."):
        return False
    try:
        ip_address(host)
    except ValueError:
        return True
    return False
