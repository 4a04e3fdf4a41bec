"""The connection to ClickHouse, and the decoder of its format Native. Imports no other room."""
