"""Applications for tests: small ones by hand, random ones for properties."""

from __future__ import annotations

import random

from sluice.subsets.application import Application, Call, Container, Host, Root, Service


def service(name: str, count: int, hosts: int = 4, **more: object) -> Service:
    """Containers name-0, name-1, ... on hosts h0, h1, ... in turn."""
    return Service(name, tuple(Container(f"{name}-{i}", f"h{i % hosts}", **more) for i in range(count)))  # type: ignore[arg-type]


def hosts(*cpu: float) -> tuple[Host, ...]:
    return tuple(Host(f"h{number}", share, 0.1, 0.1) for number, share in enumerate(cpu))


def chain(above: int = 4, below: int = 6, **more: object) -> Application:
    """a -> b on four hosts, 100 calls per second."""
    return Application(
        hosts(0.1, 0.3, 0.5, 0.7),
        (service("a", above), service("b", below)),
        (Root("read", 100.0, Call("a", ((Call("b"),),))),),
        **more,  # type: ignore[arg-type]
    )


def random_application(seed: int, services: int = 5, most: int = 12, zones: int = 0) -> Application:
    """A tree of services with up to `most` containers each on uneven hosts, one or two roots."""
    drawn = random.Random(seed)
    machines = tuple(
        Host(
            f"h{number}",
            drawn.uniform(0, 0.9),
            drawn.uniform(0, 0.9),
            drawn.uniform(0, 0.9),
            f"z{number % zones}" if zones else "",
        )
        for number in range(drawn.randint(1, 10))
    )
    parents = {number: drawn.randrange(number) for number in range(1, services)}

    def containers(name: str) -> tuple[Container, ...]:
        count = drawn.randint(1, most)
        return tuple(Container(f"{name}-{at}", drawn.choice(machines).name) for at in range(count))

    def call(number: int) -> Call:
        below = [child for child, parent in parents.items() if parent == number]
        stages = []
        while below:
            width = drawn.randint(1, len(below))
            stages.append(tuple(call(child) for child in below[:width]))
            below = below[width:]
        return Call(f"s{number}", tuple(stages), drawn.choice([0.5, 1.0, 2.0]) if number else 1.0)

    roots = [Root("all", drawn.uniform(10, 1000), call(0))]
    if drawn.random() < 0.5:
        first = next(child for child, parent in parents.items() if parent == 0)
        roots.append(Root("some", drawn.uniform(10, 1000), Call("s0", ((call(first),),))))
    return Application(
        machines,
        tuple(Service(f"s{number}", containers(f"s{number}")) for number in range(services)),
        tuple(roots),
        keep_in_zone=zones > 0,
    )
