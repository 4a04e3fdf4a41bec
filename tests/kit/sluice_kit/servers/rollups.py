"""Fills the rollups when a test wants them, not when their schedule does."""

from clickhouse_connect.driver.client import Client

# Each after the one that it reads.
ROLLUPS = ("windows_1s", "windows_10s", "windows_1m")


def stop_rollups(client: Client) -> None:
    for name in ROLLUPS:
        client.command(f"SYSTEM STOP VIEW fill_{name}")


def fill_rollups(client: Client) -> None:
    """One refresh of each rollup, finer ones first; they stand still before and after."""
    for name in ROLLUPS:
        client.command(f"SYSTEM START VIEW fill_{name}")
        client.command(f"SYSTEM REFRESH VIEW fill_{name}")
        client.command(f"SYSTEM WAIT VIEW fill_{name}")
        client.command(f"SYSTEM STOP VIEW fill_{name}")
