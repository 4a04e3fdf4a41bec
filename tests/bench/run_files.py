"""Runs that are done: a file each, so that an interrupted bench goes on where it was; and which are to be done."""

import json
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

Task = TypeVar("Task", bound=Sequence[object])


def save(path: Path, made: Callable[[], Any]) -> None:
    """Writes what `made()` gives as JSON, whole or not at all; does nothing where the file is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(made()))
    os.replace(new, path)
    print(f"saved {path.parent.name}/{path.name}", flush=True)


def load(path: Path) -> Any:
    return json.loads(path.read_text())


def requested_seeds(otherwise: Sequence[int]) -> tuple[int, ...]:
    """`SEEDS=1,2` or `SEEDS=1-10`, or those of the bench. ValueError: what stands there is neither."""
    seeds: list[int] = []
    for item in filter(None, os.environ.get("SEEDS", "").split(",")):
        first, _, last = item.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            raise ValueError(f"SEEDS: {item!r} is not legal; legal: 1,2,3 or 1-10")
        seeds += range(int(first), int(last or first) + 1)
    return tuple(seeds) or tuple(otherwise)


def runs(folder: Path | None, tasks: Sequence[Task], run: Callable[[Task], Any]) -> dict[Task, Any]:
    """Of each task, words and numbers, what `run` gives of it, as JSON has it; kept in `folder` where there is one.

    A file is of the code that made it: delete the folder after a change.
    """
    results: dict[Task, Any] = {}
    for task in tasks:
        name = "-".join(re.sub(r"[^a-z0-9]+", "_", str(word).lower()) for word in task)
        if folder is None:
            results[task] = json.loads(json.dumps(run(task)))
            print(name, flush=True)
        else:
            save(folder / f"{name}.json", partial(run, task))
            results[task] = load(folder / f"{name}.json")
    return results
