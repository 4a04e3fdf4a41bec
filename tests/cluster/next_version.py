"""The chart's next version, for a test of its upgrade: the same templates and images under another number."""

import shutil
from pathlib import Path

import yaml


def next_version(chart: Path, folder: Path) -> tuple[Path, str]:
    """A copy of the chart in `folder` whose patch number is one higher, and that number."""
    copy = folder / chart.name
    shutil.copytree(chart, copy)
    document = yaml.safe_load((copy / "Chart.yaml").read_text())
    major, minor, patch = document["version"].split(".")
    document["version"] = f"{major}.{minor}.{int(patch) + 1}"
    (copy / "Chart.yaml").write_text(yaml.safe_dump(document))
    return copy, document["version"]
