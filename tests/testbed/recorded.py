"""Load shapes from recorded request rates: a CSV with a column of seconds and one of shares per shape."""

import csv
from pathlib import Path

from .shapes import Repeating

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "rates" / "shapes_720.csv"
"""Beside the repository, when it is there: NASA-HTTP 1995 and a Twitter stream of 2021, time-compressed."""


def load(path: Path = DEFAULT) -> dict[str, Repeating]:
    """Shapes by column name. The first column is ``t_s``, whole seconds from 0; the others lie in 0 to 1.

    A shape repeats one second after its last row.

    Raises:
        ValueError: the file is missing or is not that; the message names the file, the line and the legal range.
    """
    try:
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
    except OSError as error:
        raise ValueError(f"read recorded load shapes from {path}: {error.strerror}") from None
    if len(rows) < 2 or rows[0][:1] != ["t_s"] or len(rows[0]) < 2:
        raise ValueError(f"read recorded load shapes from {path}: line 1 must be t_s,NAME,... with rows below it")
    names = rows[0][1:]
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for second, row in enumerate(rows[1:]):
        try:
            at, *shares = map(float, row)
        except ValueError:
            raise ValueError(f"read recorded load shapes from {path}: line {second + 2} must hold numbers") from None
        if at != second or len(shares) != len(names) or not all(0 <= share <= 1 for share in shares):
            raise ValueError(
                f"read recorded load shapes from {path}: line {second + 2} must be second {second} and"
                f" {len(names)} shares from 0 to 1, got {','.join(row)[:80]}"
            )
        for name, share in zip(names, shares, strict=True):
            points[name].append((at, share))
    return {name: Repeating(float(len(rows) - 1), shares) for name, shares in points.items()}
