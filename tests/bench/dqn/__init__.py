"""The deep Q-network beside its rivals (uConAdapter, SoCC'23 5): `make bench BENCH=dqn`."""
