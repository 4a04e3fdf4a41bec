"""Steps of set-up and start: how their commands run and log, and a runner that respects their order.

make cannot run them: it skips by times of files, which a fresh checkout beside a restored cache changes, and it cannot
end the steps that only wait when another fails.
"""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path

from stack.broken_files import remedy
from stack.fingerprint import fingerprint
from stack.layout import SETUP_LOGS, STAMPS

Action = Callable[[Path], None]  # gets the path of its log


class StepError(Exception):
    """A step that failed, with its log and advice."""

    def __init__(self, message: str, *, log: Path | None = None, advice: str = "") -> None:
        super().__init__(message)
        self.log = log
        self.advice = advice


@dataclass(frozen=True)
class Step:
    """One unit of work, skipped when its inputs are those of its last success and its outputs exist.

    after: names of steps; those that a run does not have do not count. `resource`: steps that share one never run at
    once (two Mavens corrupt their local repository), but in the order of the run's list.
    """

    name: str
    description: str
    action: Action
    after: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()
    values: tuple[str, ...] = ()
    outputs: tuple[Path, ...] = ()
    resource: str = ""
    advice: str = "look at the log, then run the same command again: finished steps are not repeated"

    @property
    def skippable(self) -> bool:
        return bool(self.inputs or self.values)


def run(command: Sequence[object], log: Path, *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
    """Runs a command with both streams appended to `log`. Raises StepError when it does not exit with 0."""
    words = [str(word) for word in command]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as stream:
        stream.write(f"$ {' '.join(words)}\n")
        stream.flush()
        begins = stream.tell()
        environment = {**os.environ, **(env or {})}
        try:
            done = subprocess.run(
                words, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
            )
        except OSError as error:
            raise StepError(f"cannot run {words[0]}: {error}", log=log) from error
    if done.returncode:
        program = next(word for word in words if word != "nice")
        message = f"{Path(program).name} exited with {done.returncode}"
        raise StepError(message, log=log, advice=remedy(log, begins))


class Progress:
    """Observes a run; `stack.report.Report` prints it."""

    def started(self, step: Step) -> None: ...

    def finished(self, step: Step, seconds: float) -> None: ...

    def skipped(self, step: Step) -> None: ...

    def failed(self, error: StepError) -> None:
        """Called at once; `Runner.run` raises the error when every step has ended."""


@dataclass
class Runner:
    """Runs steps in the order of `after`. `stamps` holds a file a step, the fingerprint of its last success."""

    progress: Progress = field(default_factory=Progress)
    stamps: Path = STAMPS
    logs: Path = SETUP_LOGS
    cancelled: threading.Event = field(default_factory=threading.Event)

    def run(self, steps: Sequence[Step]) -> None:
        """Raises the first StepError, after the steps that were running have ended.

        `cancelled` is set as soon as one fails, or at Ctrl-C: for steps that only wait.
        """
        by_name = {step.name: step for step in steps}
        order = TopologicalSorter(_predecessors(steps))
        order.prepare()
        running: set[Future[str]] = set()
        failure: StepError | None = None
        with ThreadPoolExecutor(max(1, len(steps))) as pool, self._cancelling():
            while order.is_active() and (running or not failure):
                if not failure:
                    running |= {pool.submit(self._do, by_name[name]) for name in order.get_ready()}
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    try:
                        order.done(future.result())
                    except StepError as error:
                        if not failure:
                            failure = error
                            self.progress.failed(error)
                            self.cancelled.set()
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
        """Whether the step has nothing to do."""
        stamp = self.stamps / step.name
        return (
            step.skippable
            and stamp.is_file()
            and stamp.read_text() == fingerprint(step.inputs, step.values)
            and all(path.exists() for path in step.outputs)
        )

    def _do(self, step: Step) -> str:
        """Returns the step's name. Raises StepError."""
        start = time.monotonic()
        if self.current(step):
            self.progress.skipped(step)
            return step.name
        inputs, stamp = fingerprint(step.inputs, step.values), self.stamps / step.name
        stamp.unlink(missing_ok=True)
        self.progress.started(step)
        log = self.logs / f"setup-{step.name}.log"
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.unlink(missing_ok=True)
            step.action(log)
        except StepError as error:
            raise StepError(f"{step.name}: {error}", log=error.log, advice=error.advice or step.advice) from error
        except OSError as error:  # a full disk, a directory that may not be written
            raise StepError(f"{step.name}: {error}", log=log, advice=step.advice) from error
        if step.skippable:
            self.stamps.mkdir(parents=True, exist_ok=True)
            stamp.write_text(inputs)
        self.progress.finished(step, time.monotonic() - start)
        return step.name


def _predecessors(steps: Sequence[Step]) -> dict[str, list[str]]:
    """The steps of this run that a step has to wait for, by its name."""
    names = {step.name for step in steps}
    newest: dict[str, str] = {}  # step by resource
    predecessors: dict[str, list[str]] = {}
    for step in steps:
        predecessors[step.name] = [name for name in step.after if name in names]
        if step.resource:
            if step.resource in newest:
                predecessors[step.name].append(newest[step.resource])
            newest[step.resource] = step.name
    return predecessors
