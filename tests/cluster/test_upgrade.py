"""The next version of the chart under load, and back: spans are counted, decisions stay, watchers go on."""

from pathlib import Path

import pytest

from cluster.counted import completions, counted
from cluster.next_version import next_version
from cluster.queries import Queries
from cluster.watcher import watching
from sluice_kit.waiting import eventually, until

#: A changed value of each component that a release restarts: every pod of ours is replaced.
CHANGED = ("--set-string", "pods.annotations.test/round=2")


@pytest.mark.parametrize("way", ["upgrade", "rollback"])
def test_nothing_is_lost_while_every_pod_is_replaced(sluice: Queries, tmp_path: Path, way: str) -> None:
    release, service = sluice.release, f"counted-{way}"
    until("there is a decision", lambda: sluice.target("cart") > 0)
    before = {name: size.revision for name, size in sluice.sizes().items()}
    old = {pod["metadata"]["uid"] for pod in release.pods()}
    with watching(sluice) as watcher, counted(service, f"http://{sluice.address('collector')}:4318") as sender:
        until("spans have windows", lambda: sluice.value(completions(service)) > 0)
        if way == "upgrade":
            chart, _ = next_version(release.chart, tmp_path)
            release.upgrade(chart, *CHANGED)
        else:
            release.rollback(release.revision() - 1)
        release.wait_ready()
        until("no pod is of before", lambda: not old & {pod["metadata"]["uid"] for pod in release.pods()})
        release.wait_ready()
        seen = watcher.events
        until("the watch goes on", lambda: watcher.events > seen + 3)
    assert eventually(lambda: sluice.value(completions(service)), sender.sent) == sender.sent
    after = {name: size.revision for name, size in sluice.sizes().items()}
    assert after.keys() == before.keys()
    assert all(after[name] >= before[name] for name in before), (before, after)
    assert watcher.resumed
    assert not watcher.wrong
    print(f"{way}: {sender.sent} spans, {sender.repeated} exports repeated, {watcher.resumed} streams resumed")
