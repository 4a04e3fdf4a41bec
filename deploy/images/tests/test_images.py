"""What the images are built from: locks, bases, and the configuration that the job's entrypoint merges."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

from sluice.cli.doctor.clickhouse import _MIGRATIONS
from sluice.cli.doctor.kafka import _TOPICS
from sluice.cli.sql.cookbook import COOKBOOK
from sluice.cli.traces.report.command import RULES

IMAGES = Path(__file__).resolve().parents[1]
REPOSITORY = IMAGES.parents[1]


def locked(path: Path) -> dict[str, str]:
    """Versions by package."""
    return dict(re.findall(r"^([a-z0-9.-]+)==([^ ;\\]+)", path.read_text(), re.MULTILINE))


def declared(path: Path) -> set[str]:
    return set(re.findall(r"^([A-Za-z0-9-]+)", path.read_text(), re.MULTILINE))


@pytest.mark.parametrize("lock", ["decider/requirements.lock", "build.lock"])
def test_versions_are_those_of_the_repository(lock: str) -> None:
    ours, repository = locked(IMAGES / lock), locked(REPOSITORY / "requirements.lock")
    assert len(ours) > 10
    assert {name: version for name, version in ours.items() if repository.get(name, version) != version} == {}


def test_the_decider_needs_what_the_repository_declares_for_run_time() -> None:
    run_time = (REPOSITORY / "requirements.in").read_text().split("# development")[0]
    names = set(re.findall(r"^([A-Za-z0-9-]+)", run_time, re.MULTILINE))
    assert names - declared(IMAGES / "decider/requirements.in") == {"matplotlib"}  # plots: README.md
    assert declared(IMAGES / "decider/requirements.in") <= names


@pytest.mark.parametrize("file", [RULES, COOKBOOK, _MIGRATIONS, _TOPICS])
def test_the_deciders_image_has_what_the_command_line_reads_beside_itself(file: Path) -> None:
    copied = re.findall(
        r"^COPY (?!--from)(\S+) /opt/sluice/(\S+)$", (IMAGES / "decider.Containerfile").read_text(), re.M
    )
    sources = {REPOSITORY / source for source, _ in copied}
    assert sources & {file, *file.parents}


def test_the_jobs_packages_are_locked() -> None:
    assert declared(IMAGES / "job/packages") <= set(locked(REPOSITORY / "streaming-jobs/requirements.lock"))


def test_each_base_has_its_default_in_the_containerfiles() -> None:
    bases = dict(
        line.split("=", 1) for line in (IMAGES / "bases.env").read_text().splitlines() if not line.startswith("#")
    )
    defaults = [
        match
        for path in IMAGES.glob("*.Containerfile")
        for match in re.findall(r"^ARG (\w+)=(\S+)$", path.read_text(), re.MULTILINE)
        if match[0] not in ("GOCACHE", "DECIDER")
    ]
    assert {name for name, _ in defaults} == set(bases)
    assert {(name, bases[name].split("@")[0]) for name, _ in defaults} == set(defaults)


def merge(folder: Path, *contents: str) -> subprocess.CompletedProcess[str]:
    """The function of docker-entrypoint.sh, on files of these contents."""
    files = []
    for number, content in enumerate(contents):
        files.append(folder / f"{number}.yaml")
        files[-1].write_text(content)
    script = (IMAGES / "job/docker-entrypoint.sh").read_text()
    function = script[script.index("merge() {") : script.index("configure() {")]
    words = ["bash", "-c", f'{function}\nmerge "$@"', "merge", *map(str, files)]
    return subprocess.run(words, capture_output=True, text=True, timeout=20)


def test_the_last_file_wins_key_by_key(tmp_path: Path) -> None:
    done = merge(tmp_path, "# first\nrest.port: 8081\na.b: x: y\n", "\n", "rest.port: 9\nnew.key: 1\n")
    assert done.stdout == "rest.port: 9\na.b: x: y\nnew.key: 1\n"


@pytest.mark.parametrize("content", ["rest:\n  port: 8081\n", "rest.port\n"])
def test_nested_keys_are_refused(tmp_path: Path, content: str) -> None:
    done = merge(tmp_path, "a: 1\n", content)
    assert done.returncode == 1
    assert "not legal; legal: key: value" in done.stderr


def test_addresses_of_one_run_become_those_of_another() -> None:
    spec = importlib.util.spec_from_file_location("addresses", IMAGES / "decider/addresses.py")
    assert spec
    assert spec.loader
    addresses = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(addresses)

    def content(first: str, second: str) -> bytes:
        return f"f__numba_array_expr_0x{first}B4 <f at 0x{second}> __numba_array_expr_0x{first}B4".encode()

    runs = [content("7f8d68ef0a50", "7f0e54be7060"), content("7f4d2eb807d0", "7f981c31f060")]
    first, second = (addresses.rewritten(run, "a.nbc") for run in runs)
    assert first == second != addresses.rewritten(runs[0], "b.nbc")
    assert re.findall(rb"0x[0-9a-f]{8}(.{4})", first) == [b"0000", b"0001", b"0000"]
    assert len(first) == len(runs[0])
