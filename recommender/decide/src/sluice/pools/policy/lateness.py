"""Whether what completes is late, by Little's law and by what windows show."""

from __future__ import annotations

from math import nan

from sluice.pools.estimate.belief.evidence import Second
from sluice.pools.policy.pace import NEWEST
from sluice.pools.policy.state import Learnt

# When requests take so many SLOs on average, 9 in 10 are late, with times that are 0.5 wide in ln.
LATE = 1.9
# From this part of the completions on that windows show in time, they are not late.
IN_TIME = 0.5
# Where requests take this part of an SLO on average, their response times decide how many are in time. A pool is judged
# from half of it on: one step doubles its size, and with it the stay where a full pool completes no more.
SLOW = 0.5
JUDGED = 0.5 * SLOW


def late(in_flight_s: float, completions: float, slo_s: float, in_time: float = nan) -> bool:
    """Whether nearly all that completes is late, by Little's law, or nothing completes while something is in flight.

    in_flight_s: sum of n dt. in_time: the part that windows show in time, NaN where they do not; half of it in time is
    not late, whatever the mean is. Worked, an SLO of 1 s: of 4 in flight 2 a second complete, after 2 s each, and are
    late; 3 a second complete after 1.3 s. Where 19 of 20 take 0.1 s and one takes 38 s, the mean is 2 s as well, and 95
    % are in time.
    """
    return in_flight_s > 0 and in_flight_s >= LATE * slo_s * completions and not in_time >= IN_TIME


def slow(learnt: Learnt, slo_s: float) -> bool:
    """Whether requests stay so long, at a size in the evidence or in the newest beats, that their response times matter
    to the choice. Such a pool is judged: windows then show what is in time, and how many call."""
    if learnt.evidence.longest_stay_s() >= JUDGED * slo_s:
        return True
    beats = learnt.beats[-NEWEST:]
    in_flight_s = sum([beat.in_flight_s for beat in beats])
    return in_flight_s > 0 and in_flight_s >= JUDGED * slo_s * sum([beat.good for beat in beats])


def is_evidence(second: Second, slo_s: float, in_time: float) -> bool:
    """Whether a second says something of its size: the pool is full in it, or not nearly all is late."""
    return second.full or not late(second.concurrency * second.seconds, second.completions, slo_s, in_time)
