"""Logs of files that were cut to half, as the servers wrote them; paths are shortened."""

from stack.broken_files import remedy

KAFKA = """\
[kafka-1-metadata-loader-event-handler] ERROR o.a.k.s.LogDirFailureChannel - Error while reading checkpoint file
java.io.IOException: Malformed line in checkpoint file [/state/kafka/recovery-point-offset-checkpoint]: sluice_obse
\tat org.apache.kafka.server.common.CheckpointFile.buildMalformedLineException(CheckpointFile.java:189)
[LogDirFailureHandler] ERROR kafka.log.LogManager - Shutdown broker because all log dirs in /state/kafka have failed
"""


def test_kafka_is_told_by_the_file_that_it_makes_again() -> None:
    assert remedy(KAFKA.splitlines()).startswith(
        "delete /state/kafka/recovery-point-offset-checkpoint, which is broken"
    )


def test_a_database_of_neo4j_that_is_not_opened() -> None:
    line = (
        "will be retried in 0.9 s ({neo4j_code: Neo.TransientError.General.DatabaseUnavailable} {message: The database"
    )
    assert "delete data/neo4j" in remedy([line, "error: apply constraints.cypher, statement 1: not available"])
    assert remedy([line, "$ env python -m migrate up --only neo4j", "error: no password"]) == ""


def test_a_log_that_names_no_broken_file() -> None:
    assert remedy([]) == ""
    assert remedy(["java.net.BindException: Address already in use"]) == ""
