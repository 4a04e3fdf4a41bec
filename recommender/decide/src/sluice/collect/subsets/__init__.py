"""What subsets are made from, as the streaming jobs wrote it: containers, call trees, hosts, latency samples."""
