"""Set-up steps: what a step is, how its commands run and log, and a runner that respects their order."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from stack.stamps import Stamps, fingerprint


class StepError(Exception):
    """A step that could not be done: what failed, where its log is, what to do."""

    def __init__(self, message: str, *, log: Path | None = None, advice: str = "") -> None:
        super().__init__(message)
        self.log = log
        self.advice = advice


@dataclass(frozen=True)
class Step:
    """One unit of set-up, skipped when its inputs are unchanged and its outputs are there.

    `resource`: steps that share one never run at once (two Mavens corrupt their local repository).
    """

    name: str
    does: str
    action: Callable[[Path], None]
    after: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()
    values: tuple[str, ...] = ()
    outputs: tuple[Path, ...] = ()
    resource: str = ""
    advice: str = "look at the log, then run the same command again: finished steps are not repeated"


def run(command: Sequence[object], log: Path, *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
    """Runs a command with both streams appended to `log`. Raises StepError when it does not exit with 0."""
    words = [str(word) for word in command]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as stream:
        stream.write(f"$ {' '.join(words)}\n")
        stream.flush()
        try:
            code = subprocess.run(
                words,
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
            ).returncode
        except OSError as error:
            raise StepError(f"cannot run {words[0]}: {error}", log=log) from error
    if code:
        raise StepError(f"{Path(words[0]).name} exited with {code}", log=log)


@dataclass
class Progress:
    """Who hears about steps; printing is in stack.report."""

    started: Callable[[Step], None] = lambda step: None
    finished: Callable[[Step, float, bool], None] = lambda step, seconds, skipped: None
    failed: Callable[[StepError], None] = lambda error: None  # at once; run() raises it when all have ended


@dataclass
class Runner:
    """Runs steps in the order of `after`, at most `width` at once."""

    stamps: Stamps
    logs: Path
    progress: Progress = field(default_factory=Progress)
    width: int = 16  # most of them wait: for a download, or for a server
    cancelled: threading.Event = field(default_factory=threading.Event)

    def run(self, steps: Sequence[Step]) -> None:
        """Raises the first StepError, after the steps that were running have ended.

        `cancelled` is set as soon as one fails, or at Ctrl-C: for steps that only wait.
        """
        names = {step.name for step in steps}
        waiting = {step.name: step for step in steps}
        done: set[str] = set()
        running: dict[Future[None], Step] = {}
        failure: StepError | None = None
        with ThreadPoolExecutor(self.width) as pool, self._cancelling():
            while (waiting and not failure) or running:
                busy = {step.resource for step in running.values() if step.resource}
                for step in [] if failure else list(waiting.values()):
                    ready = all(name in done or name not in names for name in step.after)
                    if ready and step.resource not in busy and len(running) < self.width:
                        del waiting[step.name]
                        busy |= {step.resource} - {""}
                        running[pool.submit(self._do, step)] = step
                if not running:
                    raise AssertionError(f"steps wait for each other: {', '.join(waiting)}")
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    step = running.pop(future)
                    error = future.exception()
                    if isinstance(error, StepError):
                        if not failure:
                            failure = error
                            self.progress.failed(error)
                            self.cancelled.set()
                    elif error:
                        raise error
                    done.add(step.name)
        if failure:
            raise failure

    @contextmanager
    def _cancelling(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.cancelled.set()
            raise

    def current(self, step: Step) -> bool:
        """Whether there is nothing to do for it."""
        has_inputs = bool(step.inputs or step.values)
        return has_inputs and self.stamps.current(step.name, fingerprint(step.inputs, step.values), step.outputs)

    def _do(self, step: Step) -> None:
        start = time.monotonic()
        if self.current(step):
            self.progress.finished(step, 0.0, True)
            return
        inputs = fingerprint(step.inputs, step.values)
        self.stamps.forget(step.name)
        self.progress.started(step)
        log = self.logs / f"setup-{step.name}.log"
        log.unlink(missing_ok=True)
        try:
            step.action(log)
        except StepError as error:
            raise StepError(f"{step.name}: {error}", log=error.log, advice=error.advice or step.advice) from error
        except OSError as error:  # a full disk, a directory that may not be written
            raise StepError(f"{step.name}: {error}", log=log, advice=step.advice) from error
        self.stamps.record(step.name, inputs)
        self.progress.finished(step, time.monotonic() - start, False)
