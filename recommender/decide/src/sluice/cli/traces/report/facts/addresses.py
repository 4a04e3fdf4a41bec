"""The name of a client span's peer, where the span has only an address. The rules are those of PeerName.java."""

import re
from ipaddress import ip_address

from sluice.cli.traces.report.facts.attributes import NAMESPACE, SOURCES, Attributes, PeerSource, cut, first_text

#: Left out of a name where the host has a name.
USUAL_PORTS = frozenset({80, 443, 8080, 50051, 1433, 1521, 3306, 5432, 6379, 9042, 9200, 11211, 27017, 5672, 9092})
_URL = re.compile(r".*?://([^/?#;]*)", re.DOTALL)
_ISTIO = re.compile(r"[^|]*\|([^|]*)\|\|([^|]+)")
_SERVER = re.compile(r"(?:^|[;\s])(?:server|host|data source|address|addr)\s*=\s*(?:tcp:)?([^;\s]+)", re.IGNORECASE)
_PORT = re.compile(r"(?:^|[;\s])port\s*=\s*(\d+)", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]{1,9}")
_PORTS = 1 << 16


def address(attributes: Attributes) -> str:
    """`host:port/namespace`; "" without an address.

    The port is left out where it is usual or absent. Of several texts with an address only the best counts.
    """
    best: dict[bool, PeerSource] = {}
    for source in SOURCES:
        if source.attribute in attributes and source.in_text not in best and _text(attributes, source):
            best[source.in_text] = source
    for source in sorted(best.values(), key=SOURCES.index):
        text = _text(attributes, source)
        host, port = located(text) if source.in_text else (text, _port(attributes, source.port))
        if host:
            return written(host, port, first_text(attributes, NAMESPACE))
    return ""


def located(text: str) -> tuple[str, int]:
    """Host and port in a URL, a Host header, a connection string or the name of an Envoy cluster; port 0: none."""
    if url := _URL.match(text):
        return _host_and_port(url[1].rsplit("@", 1)[-1].split(",", 1)[0])
    if "|" in text:
        istio = _ISTIO.fullmatch(text)
        return (istio[2], _number(istio[1])) if istio else (text, 0)
    if server := _SERVER.search(text):
        host, port = _host_and_port(server[1].replace(",", ":"))
        named = _PORT.search(text)
        return host, port or (_number(named[1]) if named else 0)
    return ("", 0) if "=" in text else _host_and_port(text)


def shortened(text: str) -> str:
    """The beginning of a URL that has its host and port; other text as it is. So spans of one host say the same."""
    scheme = text.find("://")
    end = text.find("/", scheme + 3) if scheme >= 0 else -1
    return text[: end + 1] if end >= 0 else text


def _text(attributes: Attributes, source: PeerSource) -> str:
    return first_text(attributes, (source.attribute,))


def _host_and_port(text: str) -> tuple[str, int]:
    if text.startswith("/"):
        return "", 0
    if text.startswith("["):
        host, closing, rest = text[1:].partition("]")
        return (host, _number(rest[1:])) if closing else ("", 0)
    host, colon, port = text.partition(":")
    # Several colons without brackets: an IPv6 address.
    return (text, 0) if ":" in port or not colon else (host, _number(port))


def _port(attributes: Attributes, name: str) -> int:
    value = attributes.get(name)
    return 0 if value is None or isinstance(value, bool | float) else _number(str(value))


def _number(text: str) -> int:
    return int(text) if _DIGITS.fullmatch(text) and 0 < int(text) < _PORTS else 0


def written(host: str, port: int, namespace: str) -> str:
    """`host:port/namespace`; a usual port of a host with a name is left out."""
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
