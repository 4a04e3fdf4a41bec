"""The keeper of the streaming job: one look at the cluster, one decision."""

from hypothesis import given
from hypothesis import strategies as st

from stack.keeper import ATTEMPTS, ENDED, Abandon, Job, Snapshot, Submit, Wait, decide, misfit

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
    assert decide(NAME, [Job("1", NAME, "RESTARTING", NEW.path)], 1, [OLD, NEW], {}) == Abandon("1", NEW.path)


UNREADABLE = "java.lang.RuntimeException: ...\nCaused by: org.apache.flink.util.StateMigrationException: The new state"
UNAVAILABLE = "java.net.ConnectException: Connection refused\n\tat ...StreamTask.restoreInternal(StreamTask.java:830)"


def test_only_repeated_failures_to_read_state_condemn_a_snapshot() -> None:
    assert misfit("/chk-7", 0, [UNREADABLE] * ATTEMPTS) == "/chk-7"
    assert misfit("/chk-7", 0, [UNREADABLE] * (ATTEMPTS - 1)) == ""
    assert misfit("/chk-7", 0, [UNREADABLE, UNAVAILABLE, UNREADABLE]) == ""  # a server that is down says nothing of it
    assert misfit("/chk-7", 1, [UNREADABLE] * ATTEMPTS) == ""  # it has made a checkpoint since, so it could read


STATES = ["RUNNING", "CREATED", "INITIALIZING", "RESTARTING", "FAILING", "CANCELLING", "RECONCILING", *sorted(ENDED)]
JOBS = st.lists(st.builds(Job, st.text(min_size=1), st.sampled_from([NAME, "another"]), st.sampled_from(STATES)))


@given(JOBS, st.integers(0, 4), st.lists(st.sampled_from([OLD, NEW])))
def test_never_submits_while_one_is_alive(jobs: list[Job], slots: int, snapshots: list[Snapshot]) -> None:
    alive = any(job.name == NAME and job.state not in ENDED for job in jobs)
    submits = isinstance(decide(NAME, jobs, slots, snapshots, {}), Submit)
    assert submits == (not alive and slots > 0)
