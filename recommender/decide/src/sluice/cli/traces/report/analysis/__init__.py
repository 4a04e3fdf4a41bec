"""The twins of the streaming jobs on columns of spans: pure functions, without I/O."""
