"""Which URLs name a ClickHouse."""

import pytest

from sluice.control.clickhouse import ClickHouse, UrlError


@pytest.mark.parametrize("url", ["http://127.0.0.1:8123", "https://u:p@db.example", "http://[::1]:8123/"])
def test_legal_urls(url: str) -> None:
    ClickHouse(url, "default")


@pytest.mark.parametrize("url", ["", "db.example:8123", "127.0.0.1:8123", "http://:8123", "http://db:port", "tcp://db"])
def test_what_names_no_host_is_refused_and_does_not_become_this_machine(url: str) -> None:
    with pytest.raises(UrlError, match=r"SLUICE_CLICKHOUSE is not legal; legal: http\[s\]://"):
        ClickHouse(url, "default")
