"""The report of the running stack, from ClickHouse."""
