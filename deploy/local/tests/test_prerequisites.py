"""Prerequisites: all that is missing is named at once, with the command that installs it."""

from dataclasses import replace
from pathlib import Path

from stack import machine, prerequisites
from stack.machine import Machine, available_memory, scarce, unfit
from stack.prerequisites import Missing, apt_commands, refusal
from stack.toolchain import jdk_version

GIB = 2**30
GOOD = Machine("Linux", "x86_64", "glibc", cores=2, memory=8 * GIB, disk=20 * GIB)
JDK = Missing("a JDK, Java 17 to 23", "found 11 in /opt/java", "openjdk-17-jdk-headless")
MAVEN = Missing("Maven 3.6 or later", "not found", "maven")


def test_a_machine_that_has_everything_is_fit() -> None:
    assert unfit(GOOD, installing=True) == []
    assert scarce(GOOD) == []


def test_what_no_package_can_mend_is_said() -> None:
    assert unfit(replace(GOOD, architecture="aarch64"), installing=False) == [
        "Linux on x86_64 is needed, not Linux on aarch64"
    ]
    assert unfit(replace(GOOD, libc=""), installing=False) == [
        "the C library must be glibc, as in Debian and Ubuntu, not another one"
    ]
    (full,) = unfit(replace(GOOD, disk=GIB), installing=True)
    assert "1.0 GiB of disk free, 5.6 GiB are needed" in full
    assert unfit(replace(GOOD, disk=GIB), installing=False) == []  # all of it is there already


def test_what_is_scarce_is_told_and_does_not_stop() -> None:
    assert [text.split(":")[0] for text in scarce(replace(GOOD, cores=1, memory=GIB))] == [
        "1 core",
        "1.0 GiB of memory are free, the stack uses 3.0 GiB",
    ]
    assert scarce(replace(GOOD, memory=0)) == []  # not told


def test_all_that_is_missing_is_named_at_once_with_its_command() -> None:
    error = refusal(["ports: kafka 9092 is taken"], [JDK, MAVEN], may_apt=False)
    assert str(error) == (
        "ports: kafka 9092 is taken; missing: a JDK, Java 17 to 23 (found 11 in /opt/java);"
        " missing: Maven 3.6 or later (not found)"
    )
    assert error
    assert error.advice == (
        "run: sudo apt-get update && sudo apt-get install -y --no-install-recommends maven openjdk-17-jdk-headless"
    )


def test_nothing_is_installed_while_something_else_stands_in_the_way() -> None:
    assert refusal(["a port is taken"], [MAVEN], may_apt=True)
    assert refusal([], [MAVEN], may_apt=True) is None
    assert refusal([], [], may_apt=False) is None


def test_apt_gets_each_package_once() -> None:
    assert apt_commands([MAVEN, MAVEN], []) == [
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "--no-install-recommends", "maven"],
    ]


def test_memory_is_what_is_available_and_not_what_is_free(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\n")
    assert available_memory(tmp_path / "meminfo") == 2 * 2**20
    assert available_memory(tmp_path / "absent") == 0


def test_this_machine_can_be_looked_at() -> None:
    assert machine.here().cores > 0
    assert prerequisites.missing_tools(maven=False) == []  # these tests run on what set-up chose


def test_a_jdk_tells_its_version_without_being_run(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "release").write_text('IMPLEMENTOR="Debian"\nJAVA_VERSION="17.0.15"\n')
    assert jdk_version(tmp_path) == ()  # a JRE: it has no compiler
    (tmp_path / "bin/javac").touch()
    assert jdk_version(tmp_path) == (17, 0, 15)
    assert jdk_version(tmp_path / "absent") == ()
