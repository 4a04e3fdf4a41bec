"""The deep Q-network on another CPU limit: `make bench BENCH=dqn-transfer`."""
