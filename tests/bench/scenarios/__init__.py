"""The committed scenarios, by name: add one by a file."""

from pathlib import Path

from testbed.single.reading import load
from testbed.single.scenario import Scenario

HERE = Path(__file__).parent


def scenario(name: str) -> Scenario:
    return load(HERE / f"{name}.yaml")
