"""Two JobManagers: when the one that leads is killed under load, the other goes on from the newest checkpoint."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.flink_jobs import keeper_at_rest
from sluice_kit.reference.graph import calls_in_neo4j, newest_calls
from sluice_kit.servers.flink_pair import flink_pair
from sluice_kit.traffic.sender import OF_SPANS, TRACES, Sender, assert_exact
from sluice_kit.waiting import eventually, until
from stack.flink import JOBS


def test_the_heir_of_a_killed_leader_goes_on_from_its_checkpoint(
    stack: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with keeper_at_rest(stack) as own:
        own.cancel_all()
        # Of the stack's own cluster, so that it is seen to work. It writes none of the tables.
        own.run("resource_metrics", "--no-dead-letters", "--name", "beside")
        with flink_pair(stack, tmp_path) as pair:
            sender = Sender(stack, "heir-")
            thirds = sender.traces(3 * TRACES)
            job = pair.run(*JOBS, "--name", "inherited", "--start", datetime.now(UTC).isoformat())
            sender.send(thirds[:TRACES])
            until("checkpoints", lambda: pair.checkpoints(pair.leader, job)["counts"]["completed"] >= 2)
            sender.send(thirds[TRACES : 2 * TRACES])
            assert not pair.heir.leads()
            pair.kill_leader()
            killed = datetime.now(UTC)
            sender.send(thirds[2 * TRACES :])
            until("the heir leads", pair.heir.leads)
            until("the job runs", lambda: pair.runs(pair.heir))
            with capsys.disabled():
                print(f"\nthe job runs again after {(datetime.now(UTC) - killed).total_seconds():.1f} s", end="")
            restored = pair.checkpoints(pair.heir, job)["latest"]["restored"]
            assert restored
            assert not restored["is_savepoint"]
            assert restored["id"] >= 2
            assert_exact(sender, *OF_SPANS)
            newest = newest_calls(sender.reference())
            assert newest
            assert eventually(lambda: calls_in_neo4j(stack, sender.prefix), newest) == newest
