"""A deep Q-network learns a pool's size (uConAdapter, SoCC'23 3.2 and 3.3). A pure core: no I/O, no clock."""
