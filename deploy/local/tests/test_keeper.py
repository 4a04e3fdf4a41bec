"""The keeper of the streaming job: one look at the cluster, one decision."""

from hypothesis import given
from hypothesis import strategies as st

from stack.keeper import (
    ATTEMPTS,
    ENDED,
    Abandon,
    Job,
    Snapshot,
    Submit,
    Unreadable,
    Wait,
    cannot_read,
    cause,
    decide,
    unreadable,
)

NAME = "sluice-streaming"
OLD = Snapshot("/state/savepoints/savepoint-1", 100.0)
NEW = Snapshot("/state/checkpoints/a/chk-7", 200.0)


def test_waits_while_the_cluster_does_not_answer() -> None:
    assert decide(NAME, None, 2, [OLD], {}) == Wait("Flink does not answer")


def test_waits_for_a_slot() -> None:
    assert decide(NAME, [], 0, [OLD], {}) == Wait("no free task slot")


def test_starts_fresh_without_a_snapshot() -> None:
    assert decide(NAME, [], 1, [], {}) == Submit(None)


def test_starts_from_the_newest_snapshot_whatever_its_kind() -> None:
    assert decide(NAME, [], 1, [OLD, NEW], {}) == Submit(NEW)
    assert decide(NAME, [], 1, [NEW, Snapshot(OLD.path, 300.0)], {}) == Submit(Snapshot(OLD.path, 300.0))


def test_falls_back_to_the_older_snapshot_and_then_to_none() -> None:
    assert decide(NAME, [], 1, [OLD, NEW], {NEW.path: ATTEMPTS - 1}) == Submit(NEW)
    assert decide(NAME, [], 1, [OLD, NEW], {NEW.path: ATTEMPTS}) == Submit(OLD)
    assert decide(NAME, [], 1, [OLD, NEW], {NEW.path: ATTEMPTS, OLD.path: ATTEMPTS}) == Submit(None)


def test_waits_for_the_schema_and_looks_at_it_before_a_submission_alone() -> None:
    assert decide(NAME, [], 1, [OLD], {}, lambda: "have none, need 0") == Wait("the schema: have none, need 0")

    def unexpected() -> str:
        raise AssertionError("looked at the schema")

    for jobs, slots in ((None, 1), ([Job("1", NAME, "RUNNING")], 1), ([], 0)):
        assert isinstance(decide(NAME, jobs, slots, [OLD], {}, unexpected), Wait)


def test_a_job_of_another_name_does_not_count() -> None:
    assert decide(NAME, [Job("1", "another", "RUNNING")], 1, [], {}) == Submit(None)


def test_an_ended_job_is_started_again() -> None:
    assert decide(NAME, [Job("1", NAME, "FAILED")], 1, [NEW], {}) == Submit(NEW)


def test_a_job_that_cannot_read_its_snapshot_is_abandoned() -> None:
    of = Unreadable(NEW.path, "Sst file size mismatch")
    assert decide(NAME, [Job("1", NAME, "RESTARTING", of)], 1, [OLD, NEW], {}) == Abandon("1", of)


UNREADABLE = "java.lang.RuntimeException: ...\nCaused by: org.apache.flink.util.StateMigrationException: The new state"
UNAVAILABLE = "java.net.ConnectException: Connection refused\n\tat ...StreamTask.restoreInternal(StreamTask.java:830)"


BROKEN = """\
java.lang.Exception: Exception while creating StreamOperatorStateContext.
Caused by: org.apache.flink.runtime.state.BackendBuildingException: Caught unexpected exception.
\t... 12 more
Caused by: org.rocksdb.RocksDBException: Sst file size mismatch: /db/000040.sst
\tat org.rocksdb.RocksDB.open(Native Method)
"""
CUT_METADATA = """\
Caused by: java.util.concurrent.CompletionException: java.lang.RuntimeException: java.io.EOFException
Caused by: java.io.EOFException
\tat org.apache.flink.runtime.checkpoint.metadata.MetadataV2V3SerializerBase.deserializeMetadata(x.java:181)
\tat org.apache.flink.runtime.checkpoint.Checkpoints.loadCheckpointMetadata(Checkpoints.java:101)
"""


def test_only_repeated_failures_to_read_state_condemn_a_snapshot() -> None:
    why = "org.apache.flink.util.StateMigrationException: The new state"
    assert unreadable("/chk-7", 0, [UNREADABLE] * ATTEMPTS) == Unreadable("/chk-7", why)
    assert unreadable("/chk-7", 0, [UNREADABLE] * (ATTEMPTS - 1)) is None
    assert unreadable("/chk-7", 0, [UNREADABLE, UNAVAILABLE, UNREADABLE]) is None  # of a server that is down
    assert unreadable("/chk-7", 1, [UNREADABLE] * ATTEMPTS) is None  # it has made a checkpoint since, so it could read


def test_the_cause_of_a_broken_file_is_its_innermost() -> None:
    of = unreadable("/chk-7", 0, [BROKEN] * ATTEMPTS)
    assert of == Unreadable("/chk-7", "org.rocksdb.RocksDBException: Sst file size mismatch: /db/000040.sst")
    assert cause("Connection refused\n\tat x.y(Z.java:1)\n") == "Connection refused"
    aborted = "org.apache.flink.client.program.ProgramAbortException: x\nCaused by: java.lang.Error: code: 1\n"
    assert cause(CUT_METADATA + aborted) == "java.io.EOFException"
    python = 'Traceback (most recent call last):\n  File "run.py", line 1\nValueError: no topic\n\n'
    assert cause(python + aborted) == "ValueError: no topic"
    assert cause(" \n") == "no reason given"


def test_a_snapshot_that_is_cut_short_is_not_tried_again() -> None:
    assert cannot_read(CUT_METADATA)
    assert not cannot_read(UNAVAILABLE)


def test_a_machine_without_room_says_nothing_of_a_snapshot() -> None:
    full = BROKEN.replace("Sst file size mismatch: /db/000040.sst", "IO error: No space left on device: /db/000040.sst")
    assert not cannot_read(full)
    assert unreadable("/chk-7", 0, [full] * ATTEMPTS) is None


STATES = ["RUNNING", "CREATED", "INITIALIZING", "RESTARTING", "FAILING", "CANCELLING", "RECONCILING", *sorted(ENDED)]
JOBS = st.lists(st.builds(Job, st.text(min_size=1), st.sampled_from([NAME, "another"]), st.sampled_from(STATES)))


@given(JOBS, st.integers(0, 4), st.lists(st.sampled_from([OLD, NEW])))
def test_never_submits_while_one_is_alive(jobs: list[Job], slots: int, snapshots: list[Snapshot]) -> None:
    alive = any(job.name == NAME and job.state not in ENDED for job in jobs)
    submits = isinstance(decide(NAME, jobs, slots, snapshots, {}), Submit)
    assert submits == (not alive and slots > 0)
