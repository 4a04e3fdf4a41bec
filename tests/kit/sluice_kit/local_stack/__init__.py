"""The local stack as tests use it: its driver, its jobs, its topics, and what kills its processes."""
