"""The deep Q-network of uConAdapter (SoCC '23): `make bench BENCH=dqn` and `BENCH=dqn-transfer`."""
