"""Two windows of one pool, field by field."""

import dataclasses

import numpy as np

from testbed.fine import PoolWindows


def assert_same_windows(ours: PoolWindows, theirs: PoolWindows) -> None:
    for field in dataclasses.fields(PoolWindows):
        one, other = getattr(ours, field.name), getattr(theirs, field.name)
        if field.name in ("own", "judge"):
            for count in dataclasses.fields(one):
                assert np.array_equal(getattr(one, count.name), getattr(other, count.name)), (field.name, count.name)
        else:
            assert np.array_equal(one, other), field.name
