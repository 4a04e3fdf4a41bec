"""Real servers for tests, started on free ports in a directory of their own."""
