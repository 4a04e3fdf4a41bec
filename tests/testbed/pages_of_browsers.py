"""Refuses requests that a page of a browser sends to an HTTP server of this machine or its private network.

Such a page can reach 127.0.0.1 in two ways. It names the address: then the browser sends the page's Origin. Or its
own name is made to lead there (DNS rebinding): then Host has that name. A name without a dot, as of Compose, is of the
network; an attacker has none.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def fault(host: str | None, origin: str | None) -> str:
    """Why a request with these headers is refused; "" where it is not."""
    name = urlsplit(f"//{host or ''}").hostname or ""
    if not _is_local(name):
        return f"Host: must be an IP address, localhost or a name without a dot, got {name[:100]!r}"
    if origin is not None and urlsplit(origin).netloc != host:
        return f"Origin: must be that of this server or absent, got {origin[:100]!r}"
    return ""


def _is_local(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return name != "" and "." not in name
    return True
