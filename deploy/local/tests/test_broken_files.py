"""Logs of files that were cut to half, as the servers wrote them; paths are shortened."""

from pathlib import Path

import pytest

from stack.broken_files import remedy, size
from stack.steps import StepError, run

KAFKA = """\
[kafka-1-metadata-loader-event-handler] ERROR o.a.k.s.LogDirFailureChannel - Error while reading checkpoint file
java.io.IOException: Malformed line in checkpoint file [/state/kafka/recovery-point-offset-checkpoint]: sluice_obse
\tat org.apache.kafka.server.common.CheckpointFile.buildMalformedLineException(CheckpointFile.java:189)
[LogDirFailureHandler] ERROR kafka.log.LogManager - Shutdown broker because all log dirs in /state/kafka have failed
"""
NEO4J = "Transaction failed and will be retried in 0.9 s ({neo4j_code: Neo.TransientError.General.DatabaseUnavailable}"


def test_kafka_is_told_by_the_file_that_it_makes_again(tmp_path: Path) -> None:
    log = tmp_path / "kafka.log"
    assert (remedy(log, 0), size(log)) == ("", 0)
    log.write_text(KAFKA)
    assert remedy(log, 0).startswith("delete /state/kafka/recovery-point-offset-checkpoint, which is broken")


def test_a_file_that_was_mended_before_the_start_is_over(tmp_path: Path) -> None:
    log = tmp_path / "kafka.log"
    log.write_text(KAFKA)
    before = size(log)
    with log.open("a") as stream:
        stream.write("java.net.BindException: Address already in use\n")
    assert remedy(log, before) == ""
    log.write_text(KAFKA)  # rotated: shorter than it was
    assert remedy(log, before + 1).startswith("delete ")


def test_a_database_of_neo4j_that_is_not_opened(tmp_path: Path) -> None:
    log = tmp_path / "constraints.log"
    with pytest.raises(StepError, match="sh exited with 1") as failed:
        run(["sh", "-c", f"echo '{NEO4J}'; exit 1"], log)
    assert "delete data/neo4j" in failed.value.advice
    with pytest.raises(StepError) as failed:
        run(["sh", "-c", "echo no password; exit 1"], log)
    assert failed.value.advice == ""
