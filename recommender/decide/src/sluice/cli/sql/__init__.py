"""`sluice sql`: queries on ClickHouse as a read-only user."""
