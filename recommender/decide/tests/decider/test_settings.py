"""Settings from a file, and the configuration file that is followed."""

import os
import signal
from pathlib import Path

import pytest

from sluice.clickhouse.connection import UrlError, secret
from sluice.config import ConfigError
from sluice.decider.config_file import ConfigFile
from sluice.decider.settings import SettingsError, settings
from sluice.decider.signals import Signals


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings"
    file.write_text("# of the chart\n\n SLUICE_KAFKA = kafka:9092 \nSLUICE_HEALTH=[::]:9464\nOTEL_X=a=b\n")
    environment = {"SLUICE_SETTINGS": str(file), "SLUICE_KAFKA": "", "SLUICE_HEALTH": "127.0.0.1:1", "HOME": "/"}
    values = settings(environment)
    assert values["SLUICE_KAFKA"] == "kafka:9092"
    assert (values["SLUICE_HEALTH"], values["OTEL_X"], values["HOME"]) == ("127.0.0.1:1", "a=b", "/")
    assert settings({"HOME": "/"}) == {"HOME": "/"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SLUICE_KAFKAS=a", ":1: SLUICE_KAFKAS is not legal; legal: SLUICE_CLICKHOUSE, "),
        ("SLUICE_CLICKHOUSE_READER_PASSWORD=secret", ":1: SLUICE_CLICKHOUSE_READER_PASSWORD is not legal"),
        ("PATH=/", ":1: PATH is not legal"),
        ("\nsecret", ":2: the line is not legal; legal: NAME=VALUE"),
        ("SLUICE_KAFKA=a\nSLUICE_KAFKA=b", ":2: SLUICE_KAFKA is set twice"),
    ],
)
def test_bad_lines(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "settings"
    file.write_text(text)
    with pytest.raises(SettingsError) as error:
        settings({"SLUICE_SETTINGS": str(file)})
    assert problem in str(error.value)
    assert "=secret" not in str(error.value)
    with pytest.raises(SettingsError, match="read SLUICE_SETTINGS=/nowhere: "):
        settings({"SLUICE_SETTINGS": "/nowhere"})


def test_a_password_comes_from_a_file_alone(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n")
    assert secret({"NAME_FILE": str(tmp_path / "password")}, "NAME") == "secret"
    assert secret({}, "NAME") == secret({"NAME": ""}, "NAME") == ""
    with pytest.raises(
        UrlError, match=r"^NAME is not legal; legal: NAME_FILE=PATH, of a file that holds the password$"
    ):
        secret({"NAME": "secret", "NAME_FILE": str(tmp_path / "password")}, "NAME")


def pool(service: str) -> str:
    return f"pools: [{{service: {service}, side: server, threshold: 99ms}}]\n"


def test_a_configmap_s_swapped_link_is_a_change(tmp_path: Path) -> None:
    """As the kubelet writes: FILE -> ..data/FILE, ..data -> a folder of the version; a change replaces ..data."""
    for version in ("1", "2", "3"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "sluice.yaml").write_text(pool({"1": "cart", "2": "cart", "3": "orders"}[version]))
    (tmp_path / "..data").symlink_to("1")
    (tmp_path / "sluice.yaml").symlink_to("..data/sluice.yaml")

    def swap(version: str) -> None:
        (tmp_path / "new").symlink_to(version)
        os.replace(tmp_path / "new", tmp_path / "..data")

    file = ConfigFile(tmp_path / "sluice.yaml")
    assert file.load().pools[0].key.service == "cart"
    assert not file.changed()
    swap("2")
    assert not file.changed()  # the same content
    swap("3")
    assert file.changed()
    assert file.load().pools[0].key.service == "orders"
    assert not file.changed()


def test_an_illegal_content_is_a_change_once(tmp_path: Path) -> None:
    file = ConfigFile(tmp_path / "sluice.yaml")
    for content in (b"pools: 7", b"\xff", None):
        file.path.write_bytes(content) if content else file.path.unlink()
        assert file.changed()
        with pytest.raises(ConfigError):
            file.load()
        assert not file.changed()
    file.path.write_text(pool("cart"))
    assert file.changed()


def test_signals_are_waited_for() -> None:
    signals = Signals([signal.SIGUSR1])
    assert signals.next(0.0) is None
    os.kill(os.getpid(), signal.SIGUSR1)
    assert signals.next(60.0) == signal.SIGUSR1
    assert signals.next(0.0) is None
    signal.set_wakeup_fd(-1)
