"""Where a process answers for its health and metrics: SLUICE_HEALTH, and the permission to leave loopback."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

NAME, EXPOSE = "SLUICE_HEALTH", "SLUICE_HEALTH_EXPOSE"


class AddressError(Exception):
    """An address that the process cannot listen on."""


class Address(NamedTuple):
    """host: an IP address, without brackets."""

    host: str
    port: int

    def serves(self, requested: str) -> bool:
        """Whether a request with this header Host is answered. On loopback a name other than localhost is one that was
        made to lead here: by a page of a browser, which would read the answer (DNS rebinding)."""
        if not ip_address(self.host).is_loopback:
            return True
        name = urlsplit(f"//{requested}").hostname or ""
        try:
            ip_address(name)
        except ValueError:
            return name in ("", "localhost")
        return True

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def health_address(environment: Mapping[str, str], usual: str) -> Address:
    """The address in SLUICE_HEALTH, else `usual`. Raises AddressError, also for one off loopback without permission."""
    text, permission = environment.get(NAME) or usual, environment.get(EXPOSE) or "false"
    if permission not in ("true", "false"):
        raise AddressError(f"{EXPOSE}={permission} is not legal; legal: true, false")
    host, _, port = text.rpartition(":")
    try:
        address = Address(str(ip_address(host.removeprefix("[").removesuffix("]"))), int(port))
    except ValueError:
        address = Address("", -1)
    if not 0 <= address.port <= 65_535:
        raise AddressError(f"{NAME}={text} is not legal; legal: IP:PORT, as {usual} or [::1]:9464; port 0 to 65535")
    if permission == "false" and not ip_address(address.host).is_loopback:
        raise AddressError(
            f"{NAME}={text} is not legal; legal: an address of loopback, as {usual}, or any with {EXPOSE}=true: the"
            " pages are readable without a password"
        )
    return address
