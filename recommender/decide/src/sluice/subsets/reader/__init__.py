"""The input of subsets, as the streaming jobs wrote it: containers, call trees, hosts, latency samples."""
