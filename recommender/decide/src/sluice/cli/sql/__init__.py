"""`sluice sql`: queries on ClickHouse as a user that can only read."""
