"""A pool's size learnt by a deep Q-network (uConAdapter, SoCC'23 3.2 and 3.3), as a pure core: no I/O, no clock."""
