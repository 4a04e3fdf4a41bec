"""The connection to ClickHouse, and the decoder of its Native format. Imports no other room."""
