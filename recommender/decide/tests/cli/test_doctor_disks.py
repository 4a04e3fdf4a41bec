"""Free space under a stack on this host, and parts that ClickHouse set aside."""

from pathlib import Path

import pytest

from sluice.cli.doctor import clickhouse, disks
from sluice.cli.environment import addresses

MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("free", "size", "level"),
    [
        (0, 3 * GIB, "fail"),
        (64 * MIB - 1, 3 * GIB, "fail"),
        (64 * MIB, 3 * GIB, "warn"),  # 2 % of it
        (153 * MIB, 3 * GIB, "warn"),  # 5 % are 153.6 MiB
        (154 * MIB, 3 * GIB, "ok"),
        (6 * GIB, 1000 * GIB, "ok"),  # less than 5 %, and a week of windows
    ],
)
def test_a_disk_is_full_below_what_is_written_at_once(free: int, size: int, level: str) -> None:
    assert disks.judge_space({"/s": (free, size)}).level == level


def test_the_fullest_disk_is_named_first_and_others_not_at_all() -> None:
    found = disks.judge_space({"/s": (GIB, GIB), "/s/flink": (100 * MIB, 3 * GIB), "/s/data/kafka": (0, 3 * GIB)})
    assert found.text == "/s/data/kafka: 0 MiB of 3,072 free; /s/flink: 100 MiB of 3,072 free"
    assert (found.level, "goes on by itself" in found.remedy) == ("fail", True)


def test_folders_on_one_disk_count_once(tmp_path: Path) -> None:
    (tmp_path / "flink").mkdir()
    ((folder, (free, size)),) = disks.spaces([tmp_path, tmp_path / "flink", tmp_path / "none"]).items()
    assert folder == str(tmp_path)
    assert 0 < free <= size


def test_without_a_stack_on_this_host_nothing_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLUICE_STATE", raising=False)
    assert disks.free_space(addresses({}), 1.0).level == "ok"


def test_broken_parts_are_counted_by_table() -> None:
    assert clickhouse.judge_broken_parts([]).level == "ok"
    found = clickhouse.judge_broken_parts([("call_edges", 1), ("windows", 3)])
    assert (found.level, found.text) == ("warn", "parts set aside as broken, by table: call_edges 1, windows 3")
