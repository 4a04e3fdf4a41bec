"""Follows membership within one pair of services: keeps, drops and adds connections by container name."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from statistics import median_low

from sluice.subsets.application import USUAL
from sluice.subsets.chance import seed
from sluice.subsets.members import Member

#: The weight of a connection of an upstream container that has no other one.
MEAN_WEIGHT = 100


class MemberPair:
    """above, below: the live upstream and downstream containers. previous: connections with weights, by upstream
    container. fewest, most, wanted: numbers of connections, bounded as in `problem.Pair`. touched: whether anything has
    to change."""

    def __init__(
        self,
        key: tuple[str, str],
        previous: Mapping[str, Mapping[str, int]],
        above: Sequence[Member],
        below: Sequence[Member],
        min_subset: int,
        keep_in_zone: bool,
    ) -> None:
        self.above = [container.instance for container in above]
        self._below = sorted((container.instance for container in below), key=lambda name: seed(*key, name))
        self._order = sorted(self.above, key=lambda name: seed(*key, name))
        self._may = _allowed(above, below, self._below, keep_in_zone)
        self._kept = {
            name: {to: weight for to, weight in previous.get(name, {}).items() if to in self._may[name][1]}
            for name in self.above
        }
        self._weight = {
            name: max(1, round(sum(ends.values()) / len(ends))) if ends else MEAN_WEIGHT
            for name, ends in self._kept.items()
        }
        reached = {to for may, _ in self._may.values() for to in may}
        self._callers: dict[str, set[str]] = {name: set() for name in self._below}
        for name, ends in self._kept.items():
            for to in ends:
                self._callers[to].add(name)
        self._new = [name for name in self._below if name in reached and not self._callers[name]]
        self._least = self._least_sizes(min_subset, len(reached))
        usual = median_low([len(ends) for ends in previous.values()] or [USUAL])
        self._size = {
            name: min(max(len(previous.get(name, ())) or usual, self._least[name]), len(self._may[name][0]))
            for name in self.above
        }
        self.fewest = max(sum(self._least.values()), len(reached))
        self.most = sum(len(may) for may, _ in self._may.values())
        self.wanted = min(max(sum(self._size.values()), self.fewest), self.most)
        self.touched = (
            previous.keys() != set(self.above)
            or bool(self._new)
            or any(len(ends) != len(previous[name]) for name, ends in self._kept.items() if name in previous)
            or self.wanted != sum(len(ends) for ends in self._kept.values())
        )

    def become(self, total: int) -> None:
        """Changes the connections so that there are `total`, between `fewest` and `most`."""
        self._resize(total)
        self._drop()
        self._fill()
        self._give(max(1, total // max(len(self._below), 1)))

    def ends(self) -> dict[str, dict[str, int]]:
        return {name: dict(sorted(ends.items())) for name, ends in self._kept.items()}

    def _least_sizes(self, min_subset: int, reached: int) -> dict[str, int]:
        """The least number of connections of each upstream container.

        With zones, containers of a group share one set of downstream containers, and together they must reach each of
        it: a zone's group all of the zone, the others all downstream containers outside those zones.
        """
        groups: dict[int, list[str]] = {}
        for name, (may, _) in self._may.items():
            groups.setdefault(id(may), []).append(name)
        of_zones = {to for may, _ in self._may.values() if len(may) < len(self._below) for to in may}
        sizes = {}
        for names in groups.values():
            may, _ = self._may[names[0]]
            theirs = len(may) if len(may) < len(self._below) else reached - len(of_zones)
            for name in names:
                sizes[name] = max(min(len(may), min_subset), -(-theirs // len(names)) if len(groups) > 1 else 0)
        return sizes

    def _resize(self, total: int) -> None:
        """Makes sizes add up to `total`. Shrinks containers with open connections first, then the largest; grows the
        smallest."""
        over = sum(self._size.values()) - total
        step = -1 if over > 0 else 1

        def rank(name: str) -> tuple[bool, int, int]:
            is_open = len(self._kept[name]) < self._size[name]
            return (not is_open and step < 0, step * self._size[name], place[name])

        def room(name: str) -> bool:
            return self._size[name] > self._least[name] if step < 0 else self._size[name] < len(self._may[name][0])

        place = {name: at for at, name in enumerate(self._order)}
        heap = [(rank(name), name) for name in self._order if room(name)]
        heapq.heapify(heap)
        while over and heap:
            _, name = heapq.heappop(heap)
            self._size[name] += step
            over += step
            if room(name):
                heapq.heappush(heap, (rank(name), name))

    def _drop(self) -> None:
        """Drops connections above a container's size, first to the downstream containers with the most callers."""
        for name in self._order:
            while len(self._kept[name]) > self._size[name]:
                self._disconnect(name, max(self._kept[name], key=lambda to: (len(self._callers[to]), to)))

    def _fill(self) -> None:
        """Gives open connections to the downstream containers with the fewest callers."""
        heaps: dict[int, list[tuple[int, int, str]]] = {}
        for name in self._order:
            may, _ = self._may[name]
            if id(may) not in heaps:
                heaps[id(may)] = sorted((len(self._callers[to]), at, to) for at, to in enumerate(may))
            heap, passed = heaps[id(may)], []
            while len(self._kept[name]) < self._size[name] and heap:
                callers, at, to = heapq.heappop(heap)
                now = len(self._callers[to])
                if callers != now:
                    heapq.heappush(heap, (now, at, to))
                elif to in self._kept[name]:
                    passed.append((now, at, to))
                else:
                    self._connect(name, to)
                    passed.append((now + 1, at, to))
            for one in passed:
                heapq.heappush(heap, one)

    def _give(self, part: int) -> None:
        """Gives each downstream container without callers up to `part` callers of those that have more. One that lost
        its last caller gets one."""
        place = {to: at for at, to in enumerate(self._callers)}
        heap = [self._entry(to, place) for to in place]
        heapq.heapify(heap)
        reached = {to for may, _ in self._may.values() for to in may}
        left = [to for to in self._below if to in reached and not self._callers[to] and to not in self._new]
        for new, wanted in [*((to, 1) for to in left), *((to, part) for to in self._new)]:
            passed = []
            while len(self._callers[new]) < wanted and heap:
                entry = heapq.heappop(heap)
                callers, _, to = entry
                now = len(self._callers[to])
                if callers != -now:
                    # The heap has a newer entry with the present number of callers.
                    continue
                if now <= max(len(self._callers[new]) + (1 if self._callers[new] else 0), 1):
                    passed.append(entry)
                    break
                mover = next((name for name in self._ordered(to) if self._goes(name, new)), None)
                if mover is None:
                    passed.append(entry)
                    continue
                self._disconnect(mover, to)
                self._connect(mover, new)
                heapq.heappush(heap, self._entry(to, place))
                heapq.heappush(heap, self._entry(new, place))
            for one in passed:
                heapq.heappush(heap, one)
        for new in self._below:
            if new in reached and not self._callers[new]:
                self._shift(new)

    def _shift(self, new: str) -> None:
        """Gives a downstream container without callers one caller.

        Moves one connection each along the shortest chain that starts at a container with several callers. Where zones
        limit the callers, a single move may not be possible.
        """
        came: dict[str, tuple[str, str] | None] = {new: None}
        queue = deque([new])
        while queue:
            wanted = queue.popleft()
            for name in (caller for caller in self._order if self._goes(caller, wanted)):
                for to in sorted(self._kept[name].keys() - came.keys()):
                    came[to] = name, wanted
                    queue.append(to)
        end = next((to for to in came if len(self._callers[to]) > 1), None)
        while end is not None and (moves := came[end]) is not None:
            name, wanted = moves
            self._disconnect(name, end)
            self._connect(name, wanted)
            end = wanted

    def _entry(self, to: str, place: Mapping[str, int]) -> tuple[int, int, str]:
        """A heap entry: containers with the most callers come first."""
        return -len(self._callers[to]), place[to], to

    def _ordered(self, to: str) -> list[str]:
        """The callers of `to`, those with the most connections first."""
        return sorted(self._callers[to], key=lambda name: (-len(self._kept[name]), name))

    def _goes(self, name: str, to: str) -> bool:
        return to in self._may[name][1] and to not in self._kept[name]

    def _connect(self, name: str, to: str) -> None:
        self._kept[name][to] = self._weight[name]
        self._callers[to].add(name)

    def _disconnect(self, name: str, to: str) -> None:
        del self._kept[name][to]
        self._callers[to].discard(name)


def _allowed(
    above: Sequence[Member], below: Sequence[Member], order: Sequence[str], keep_in_zone: bool
) -> dict[str, tuple[Sequence[str], frozenset[str]]]:
    """By upstream container, the downstream containers that it may connect to: those of its zone where `keep_in_zone`
    is set and the zone has any, else all."""
    everybody = order, frozenset(order)
    if not keep_in_zone:
        return {container.instance: everybody for container in above}
    zone = {container.instance: container.zone for container in below}
    groups = {}
    for name in sorted({container.zone for container in below} - {""}):
        those = [to for to in order if zone[to] == name]
        groups[name] = those, frozenset(those)
    return {container.instance: groups.get(container.zone, everybody) for container in above}
