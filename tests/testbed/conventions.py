"""Span names and attributes by OpenTelemetry's semantic conventions (HTTP 1.23 and later, database 1.33)."""

from .spans import CLIENT, SERVER, SpanSite
from .topology import ServiceSpec

HTTP_PORT = 80
SQL_PORT = 5432


def server_site(service: ServiceSpec, operation: str) -> SpanSite | None:
    """Where the service's agent makes the SERVER span of an operation; None for a database, which has no agent."""
    if service.database:
        return None
    method, route = operation.split(" ", 1)
    attributes = (("http.request.method", method), ("http.route", route), ("url.scheme", "http"))
    return SpanSite(service.name, SERVER, "", operation, attributes, status_attribute=True)


def client_site(caller: ServiceSpec, callee: ServiceSpec, operation: str) -> SpanSite | None:
    """Where the caller's agent makes the CLIENT span of a call; None when the caller has no agent."""
    if caller.database:
        return None
    if callee.database:
        attributes: tuple[tuple[str, str | int], ...] = (
            ("db.system.name", "postgresql"),
            ("db.namespace", callee.database),
            ("db.operation.name", operation),
            ("server.address", callee.name),
            ("server.port", SQL_PORT),
            ("peer.service", callee.name),
        )
        return SpanSite(caller.name, CLIENT, callee.name, f"{operation} {callee.database}", attributes)
    method, route = operation.split(" ", 1)
    attributes = (
        ("http.request.method", method),
        ("url.full", f"http://{callee.name}{route}"),
        ("server.address", callee.name),
        ("server.port", HTTP_PORT),
        ("peer.service", callee.name),
    )
    # Low cardinality, as the conventions ask: the client does not know the route, so the method alone is the name.
    return SpanSite(caller.name, CLIENT, callee.name, method, attributes, status_attribute=True)
