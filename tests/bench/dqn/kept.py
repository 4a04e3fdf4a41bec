"""Runs that are done: each is kept in `out/dqn` when it is over, so that an interrupted bench goes on where it was.

A file is of the code that made it: delete the folder, or a part of it, after a change.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from bench.results import OUT

FOLDER = OUT / "dqn"
Task = TypeVar("Task", bound=Sequence[object])


def seeds(otherwise: Sequence[int]) -> tuple[int, ...]:
    """`SEEDS=1,2`, or those of the part."""
    told = os.environ.get("SEEDS", "")
    return tuple(int(each) for each in told.split(",")) if told else tuple(otherwise)


def parts(names: Sequence[str]) -> list[str]:
    """`PARTS=convergence,transfer`, or all. ValueError: there is no such part."""
    told = [each for each in os.environ.get("PARTS", "").split(",") if each]
    unknown = [each for each in told if each not in names]
    if unknown:
        raise ValueError(f"PARTS: {unknown[0]!r} is not legal; legal: {', '.join(names)}")
    return told or list(names)


def runs(part: str, tasks: Sequence[Task], run: Callable[[Task], Any], keep: bool = True) -> dict[Task, Any]:
    """Of each task, words and numbers, what `run` gives of it, as JSON has it. keep: False of quick runs."""
    found: dict[Task, Any] = {}
    for number, task in enumerate(tasks, 1):
        name = "-".join(re.sub(r"[^a-z0-9]+", "_", str(word).lower()) for word in task)
        path = FOLDER / part / f"{name}.json"
        if keep and path.exists():
            found[task] = json.loads(path.read_text())
            continue
        text = json.dumps(run(task))
        found[task] = json.loads(text)
        if keep:
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_suffix(".new")
            new.write_text(text)
            os.replace(new, path)
        print(f"{part}: {number} of {len(tasks)}: {name}", file=sys.stderr, flush=True)
    return found
