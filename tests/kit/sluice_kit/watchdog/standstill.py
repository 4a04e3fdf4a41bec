"""When a stack stands still: decided from what its stages say of themselves. sluice_kit/watchdog/watch.py asks them."""

import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

#: A stage whose pulse stands for this long ends the run. A worker that is killed and replaced takes some 40 s on two
#: idle cores; a machine three times slower is let be.
LIMIT_S = 200.0
#: So does what tests waited for in vain, added up, though all stages answer: the tests that follow would wait, too.
IN_VAIN_S = 240.0
#: Of the time between two looks no more than this counts: whoever looks may have been held up himself.
LONGEST_STEP_S = 20.0


@dataclass(frozen=True)
class Beat:
    """What a stage said when it was looked at.

    alive: it answered. pulse: changes as long as the stage works, whether or not there is anything to do; None: to
    answer is enough. counts: change only with what passes through. text: the same for people.
    """

    alive: bool
    text: str
    pulse: Hashable = None
    counts: Hashable = None


@dataclass(frozen=True)
class Stage:
    """A stage as it was last seen. still_s: for how long its pulse has stood."""

    beat: Beat
    still_s: float
    since: float
    pulse: Hashable = None


class StandStill:
    """The memory of looks at a stack. Times are in seconds of any clock that only grows."""

    def __init__(self, now: float) -> None:
        self.stages: dict[str, Stage] = {}
        #: When counts of a stage, or the way in which it answers, last changed.
        self.moved_at = now
        self._last = now
        self._in_vain_s = 0.0

    def look(self, now: float, beats: Mapping[str, Beat]) -> None:
        step_s = min(now - self._last, LONGEST_STEP_S)
        self._last = now
        for name, beat in beats.items():
            before = self.stages.get(name)
            beats_on = beat.alive and (beat.pulse is None or before is None or beat.pulse != before.pulse)
            if before is None or beats_on:
                self.stages[name] = Stage(beat, 0.0, now, beat.pulse)
            else:
                self.stages[name] = Stage(beat, before.still_s + step_s, before.since, before.pulse)
            if before is None or (beat.counts, beat.alive) != (before.beat.counts, before.beat.alive):
                self.moved_at = now

    def in_vain(self, still_s: float) -> None:
        """A test waited for so long while nothing moved, and has given up."""
        self._in_vain_s += still_s

    def verdict(self) -> str:
        """Why the run has to end; empty while it need not."""
        standing = {name: stage for name, stage in self.stages.items() if stage.still_s >= LIMIT_S}
        if standing:
            stages = (f"{name} for {stage.still_s:.0f} s ({stage.beat.text})" for name, stage in standing.items())
            return f"the stack stands still: {'; '.join(stages)}"
        if self._in_vain_s >= IN_VAIN_S:
            return (
                f"every stage answers, but tests have waited {self._in_vain_s:.0f} s for what did not come while "
                "nothing moved"
            )
        return ""

    def table(self, now: float, wall: float) -> list[str]:
        """A line a stage, the stillest first: since when its pulse stands, and what it said last.

        wall: Unix time of `now`.
        """
        return [
            f"{name:<14} {time.strftime('%H:%M:%S', time.localtime(wall - now + stage.since))}  "
            f"{stage.still_s:4.0f} s  {stage.beat.text}"
            for name, stage in sorted(self.stages.items(), key=lambda item: -item[1].still_s)
        ]
