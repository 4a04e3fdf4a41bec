"""Which spans stand within another that holds the same thread or connection: walked span by span, without remembering.

The rules are those of Nesting.java's comment. A part of a trace is a message's spans of it, or the whole.
"""

from collections.abc import Iterator, Mapping, Sequence

from sluice_kit.reference.spans import Span

#: Client spans that stand in each other; deeper is not looked.
DEEPEST = 16
#: What is in the windows, or was left out as no load: others are as if they were not there.
SOLID = ("held", "left_out", "not_a_pool", "sidecar")


def nested(spans: Sequence[Span], by_id: Mapping[bytes, Span]) -> Iterator[tuple[Span, Span | None]]:
    """Each nested span, and of a client's the outermost one that counts for it."""
    way = {id(outer) for span in spans for outer in _gives_way(span, by_id)}
    for span in spans:
        if span.use not in SOLID:
            continue
        if span.kind == "SERVER":
            if _is_nested_server(span, by_id, way):
                yield span, None
        elif span.kind == "CLIENT":
            clients = _clients(span, by_id)[:DEEPEST]
            like = clients[0] if clients and span.use == "sidecar" else span
            same = [
                client
                for client in clients
                if client is like or (client.named_peer == like.named_peer != "" and client.instance == like.instance)
            ]
            if same:
                yield span, same[-1]


def _is_nested_server(span: Span, by_id: Mapping[bytes, Span], way: set[int]) -> bool:
    servers = _servers(span, by_id)
    if _stands_in(span):
        first = by_id.get(span.span_id)
        # What repeats the id of a span was counted as that was.
        if first is not None and id(first) in way:
            return True
        return bool(servers) and (not span.instance or servers[0].instance in ("", span.instance))
    known = [server for server in servers if not _stands_in(server)]
    return bool(known) and known[0].instance == span.instance


def _gives_way(span: Span, by_id: Mapping[bytes, Span]) -> Iterator[Span]:
    """The SERVER spans that stand in, between one that does not and the next above that does not."""
    if span.kind != "SERVER" or span.use not in SOLID or _stands_in(span):
        return
    for outer in _servers(span, by_id):
        if not _stands_in(outer):
            return
        yield outer


def _stands_in(span: Span) -> bool:
    """Whether a SERVER span counts only while no span of its application is below it."""
    return not span.instance or span.use == "sidecar"


def _servers(span: Span, by_id: Mapping[bytes, Span]) -> list[Span]:
    """SERVER spans above, the nearest first."""
    servers = []
    for above in _above(span, by_id):
        if above.kind in ("PRODUCER", "CONSUMER"):
            break
        if above.kind == "SERVER" and above.use in SOLID:
            servers.append(above)
    return servers


def _clients(span: Span, by_id: Mapping[bytes, Span]) -> list[Span]:
    clients = []
    for above in _above(span, by_id):
        if above.kind in ("PRODUCER", "CONSUMER", "SERVER"):
            break
        if above.kind == "CLIENT" and above.use in SOLID:
            clients.append(above)
    return clients


def _above(span: Span, by_id: Mapping[bytes, Span]) -> Iterator[Span]:
    """Parents of the same service, up to the first span of a ring of parents."""
    at = span
    while not _is_in_ring(at, by_id):
        parent = _parent(at, by_id)
        if parent is None or parent.span_id == at.span_id:
            return
        yield parent
        at = parent


def _is_in_ring(span: Span, by_id: Mapping[bytes, Span]) -> bool:
    if by_id.get(span.span_id) is not span:
        return False
    visited: set[int] = set()
    at = _parent(span, by_id)
    while at is not None and id(at) not in visited:
        if at is span:
            return True
        visited.add(id(at))
        at = _parent(at, by_id)
    return False


def _parent(span: Span, by_id: Mapping[bytes, Span]) -> Span | None:
    parent = by_id.get(span.parent_id)
    return parent if parent is not None and parent.service == span.service else None
