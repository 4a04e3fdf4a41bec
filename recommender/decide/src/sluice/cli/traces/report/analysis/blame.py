"""The parts of services in each critical path. The rules are those of ServiceTimes.java and Blame.java."""

from __future__ import annotations

import numpy as np

from sluice.cli.traces.report.analysis.names import Ints
from sluice.fast.compiled import compiled


@compiled
def parts_of(
    root: Ints, service: Ints, own: Ints, depth: Ints, length: Ints, wait: Ints
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Columns of spans on paths, as `walk` returns them; service: of each span.

    By service on a path, in the order in which the path reaches them: number of the root, service, time on the path,
    the callers' waits for its threads, and blame, in ns.
    """
    size = len(root)
    out_root, out_service = np.empty(size, np.int64), np.empty(size, np.int64)
    out_own, out_wait, out_blame = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    alone, line, factor = own.copy(), np.zeros(size + 1, np.int64), np.ones(size + 2)
    parts, rows, low = np.zeros(size), 0, 0
    while low < size:
        high = low
        while high < size and root[high] == root[low]:
            high += 1
        for span in range(low, high):
            line[depth[span]] = span
            if wait[span] > 0:
                alone[line[depth[span] - 1]] -= wait[span]
        first = rows
        for span in range(low, high):
            row = first
            while row < rows and out_service[row] != service[span]:
                row += 1
            if row == rows:
                out_root[row], out_service[row] = root[span], service[span]
                rows += 1
            out_own[row] += own[span]
            out_wait[row] += wait[span]
            above = factor[depth[span]]
            if length[span] == 0:
                factor[depth[span] + 1] = above
                parts[row] += wait[span] * above
            else:
                stretch = (length[span] + wait[span]) / length[span]
                factor[depth[span] + 1] = above * stretch
                parts[row] += alone[span] * (above * stretch)
        total, before = 0.0, 0
        for row in range(first, rows):
            total += parts[row]
            ends = length[low] if row == rows - 1 else min(length[low], int(total))
            out_blame[row] = ends - before
            before = ends
        low = high
    return out_root[:rows], out_service[:rows], out_own[:rows], out_wait[:rows], out_blame[:rows]
