"""Writes the example: a shop of five services on eight hosts of which some are busy, and latency samples of them.

`python make_shop.py` writes shop.json and shop_latency.csv beside this file. Samples are drawn, not measured: a request
takes longer on a busy host (five times at 60 % utilization, as Microns 2.2 has it) and at a busy container.
"""

import csv
import json
import math
import random
from pathlib import Path

HERE = Path(__file__).parent
# CPU, memory bandwidth, network: ratios.
HOSTS = [
    ("h1", 0.35, 0.20, 0.10),
    ("h2", 0.15, 0.10, 0.05),
    ("h3", 0.62, 0.30, 0.15),
    ("h4", 0.20, 0.45, 0.10),
    ("h5", 0.10, 0.10, 0.30),
    ("h6", 0.70, 0.55, 0.20),
    ("h7", 0.25, 0.15, 0.10),
    ("h8", 0.40, 0.35, 0.50),
]
# Containers, milliseconds of a request on an idle host, requests that a container serves at a time.
SERVICES = {
    "frontend": (6, 2.0, 4),
    "catalogue": (8, 4.0, 4),
    "cart": (8, 3.0, 4),
    "prices": (6, 1.5, 4),
    "stock": (12, 5.0, 4),
}
SAMPLES = 80


def application() -> dict[str, object]:
    services = []
    for number, (name, (containers, _, _)) in enumerate(SERVICES.items()):
        services.append({"name": name, "containers": [container(name, number, at) for at in range(containers)]})
    browse = [[{"service": "catalogue", "stages": [[{"service": "prices"}, {"service": "stock", "calls": 2.0}]]}]]
    buy = [[{"service": "cart", "stages": [[{"service": "stock"}]]}, {"service": "catalogue"}], [{"service": "prices"}]]
    return {
        "hosts": [dict(zip(("name", "cpu", "memory_bandwidth", "network"), host, strict=True)) for host in HOSTS],
        "services": services,
        "roots": [
            {"name": "browse", "rate_per_s": 600, "tree": {"service": "frontend", "stages": browse}},
            {"name": "buy", "rate_per_s": 150, "tree": {"service": "frontend", "stages": buy}},
        ],
        "latency": {"samples": "shop_latency.csv"},
    }


def container(service: str, number: int, at: int) -> dict[str, str]:
    host = HOSTS[(3 * number + at) % len(HOSTS)][0]
    return {"name": f"{service}-{at + 1}", "host": host, "address": f"10.0.{number}.{at + 1}:8080"}


def samples() -> list[list[object]]:
    drawn = random.Random(12)
    rows = []
    for name, (containers, idle_ms, at_a_time) in SERVICES.items():
        for _ in range(SAMPLES):
            cpu, memory, network = (drawn.uniform(0.05, 0.8) for _ in range(3))
            rate = drawn.uniform(0.05, 2.5) * 1500 / containers
            takes_ms = idle_ms * math.exp(math.log(5) / 0.6 * max(cpu, memory, network))
            busy = min(rate * takes_ms / 1000 / at_a_time, 0.97)
            sigma = (0.4 + 0.5 * busy) * drawn.uniform(0.95, 1.05)
            mu = math.log(takes_ms / (1 - busy)) - sigma**2 / 2 + drawn.gauss(0, 0.03)
            rows.append([name, *(f"{each:.4f}" for each in (rate, cpu, memory, network, mu, sigma))])
    return rows


if __name__ == "__main__":
    (HERE / "shop.json").write_text(json.dumps(application(), indent=1) + "\n")
    with (HERE / "shop_latency.csv").open("w", newline="") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(["service", "rate_per_s", "cpu", "memory_bandwidth", "network", "mu", "sigma"])
        writer.writerows(samples())
