"""The six bursty workloads of ConScale (Figure 9) and Sora (Tables 2 and 3), re-drawn: the series are not published.

Gandhi et al. (AutoScale, 2012) sorted real traces into these classes; the papers print them as small curves over 12
minutes. What is drawn here follows three things: the class's name; the seconds at which the papers report overload
(large variation: Sora 45 to 82, 222 to 295, 508 to 578; steep tri phase: 269 to 412 and 480 to 610); and the means,
which stand to each other about as the goodputs of Sora's Table 3 do (quick 1.7, dual 1.25, tri and large 1.2, slow 1,
spike 0.7). They are imitations: figures made with them are comparable with each other, not with the papers'.
"""

from collections.abc import Mapping
from types import MappingProxyType

from .shapes import Repeating

LENGTH = 720.0
"""Seconds, as in both papers."""


def _drawn(*points: tuple[float, float]) -> Repeating:
    return Repeating(LENGTH, points)


LARGE_VARIATION = _drawn(
    (0, 0.38),
    (30, 0.45),
    (52, 0.90),
    (82, 0.84),
    (100, 0.48),
    (130, 0.36),
    (165, 0.52),
    (190, 0.46),
    (225, 0.88),
    (250, 0.97),
    (280, 0.90),
    (310, 0.50),
    (350, 0.32),
    (390, 0.44),
    (425, 0.30),
    (470, 0.48),
    (508, 0.88),
    (540, 1.00),
    (570, 0.92),
    (600, 0.52),
    (640, 0.34),
    (680, 0.46),
    (720, 0.38),
)
QUICKLY_VARYING = _drawn(
    *(
        point
        for cycle, (low, high) in enumerate(
            (
                (0.55, 0.92),
                (0.58, 0.96),
                (0.60, 0.94),
                (0.56, 1.00),
                (0.62, 0.97),
                (0.58, 0.93),
                (0.60, 1.00),
                (0.55, 0.96),
                (0.62, 0.98),
                (0.57, 0.94),
                (0.60, 0.97),
                (0.56, 0.92),
            )
        )
        for point in ((60.0 * cycle, low), (60.0 * cycle + 28.0, high))
    )
)
SLOWLY_VARYING = _drawn(
    (0, 0.20),
    (60, 0.22),
    (120, 0.28),
    (180, 0.37),
    (240, 0.49),
    (300, 0.64),
    (360, 0.82),
    (410, 0.96),
    (440, 1.00),
    (470, 0.94),
    (520, 0.68),
    (570, 0.43),
    (620, 0.29),
    (670, 0.22),
    (720, 0.20),
)
BIG_SPIKE = _drawn(
    (0, 0.24),
    (90, 0.27),
    (180, 0.23),
    (270, 0.26),
    (318, 0.28),
    (342, 1.00),
    (372, 0.95),
    (400, 0.32),
    (480, 0.26),
    (570, 0.23),
    (650, 0.27),
    (720, 0.24),
)
DUAL_PHASE = _drawn(
    (0, 0.26),
    (80, 0.30),
    (160, 0.25),
    (240, 0.31),
    (330, 0.28),
    (372, 0.88),
    (430, 0.96),
    (500, 0.87),
    (570, 1.00),
    (640, 0.90),
    (700, 0.95),
    (710, 0.60),
    (720, 0.26),
)
STEEP_TRI_PHASE = _drawn(
    (0, 0.27),
    (120, 0.31),
    (250, 0.28),
    (272, 0.80),
    (307, 0.92),
    (345, 0.88),
    (400, 0.80),
    (420, 0.46),
    (470, 0.50),
    (490, 0.84),
    (520, 0.96),
    (575, 1.00),
    (605, 0.84),
    (630, 0.36),
    (720, 0.27),
)

BURSTY: Mapping[str, Repeating] = MappingProxyType(
    {
        "large_variation": LARGE_VARIATION,
        "quickly_varying": QUICKLY_VARYING,
        "slowly_varying": SLOWLY_VARYING,
        "big_spike": BIG_SPIKE,
        "dual_phase": DUAL_PHASE,
        "steep_tri_phase": STEEP_TRI_PHASE,
    }
)
