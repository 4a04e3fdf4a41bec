"""Parses and prints hours of the day: "22:00-06:00", in UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator

_PATTERN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
_MINUTES_A_DAY = 1440


class Hours(NamedTuple):
    """Minutes of the day from `begin` to before `end`, over midnight where end <= begin. 22:00-06:00 is (1320, 360)."""

    begin: int
    end: int

    def hold(self, now_ms: int) -> bool:
        moment = datetime.fromtimestamp(now_ms / 1000, UTC)
        minute = 60 * moment.hour + moment.minute
        return (minute - self.begin) % _MINUTES_A_DAY < ((self.end - self.begin) % _MINUTES_A_DAY or _MINUTES_A_DAY)

    def __str__(self) -> str:
        return f"{self.begin // 60:02}:{self.begin % 60:02}-{self.end // 60:02}:{self.end % 60:02}"


def parse_hours(value: object) -> Hours:
    """Hours from HH:MM-HH:MM. Raises ValueError for anything else."""
    match = _PATTERN.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError('is not legal; legal: two times of day in UTC, as "22:00-06:00"')
    begin_h, begin_m, end_h, end_m = (int(part) for part in match.groups())
    return Hours(60 * begin_h + begin_m, 60 * end_h + end_m)


QuietHours = Annotated[Hours, BeforeValidator(parse_hours)]
