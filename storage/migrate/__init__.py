"""Brings ClickHouse and Neo4j to the schema in this folder: `python -m migrate up`."""
