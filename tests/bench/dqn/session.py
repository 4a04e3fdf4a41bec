"""Which parts and seeds a session of the bench runs; each run is kept in `out/dqn` when it is over.

A file is of the code that made it: delete the folder, or a part of it, after a change.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from bench import kept
from bench.results import OUT

FOLDER = OUT / "dqn"
Task = TypeVar("Task", bound=Sequence[object])


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
    for task in tasks:
        name = "-".join(re.sub(r"[^a-z0-9]+", "_", str(word).lower()) for word in task)
        if keep:
            path = FOLDER / part / f"{name}.json"
            kept.keep(path, partial(run, task))
            found[task] = kept.kept(path)
        else:
            found[task] = json.loads(json.dumps(run(task)))
            print(f"{part}: {name}", flush=True)
    return found
