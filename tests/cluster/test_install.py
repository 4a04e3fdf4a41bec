"""The chart with the stores of a try-out: every pod gets ready, within the restricted standard."""

from cluster.queries import Queries

COMPONENTS = {
    "server", "records", "decider", "collector", "agent", "jobmanager", "taskmanager",
    "kafka", "clickhouse", "neo4j", "shop",
}  # fmt: skip


def test_every_component_is_ready(sluice: Queries) -> None:
    assert not sluice.release.unready()
    labels = [pod["metadata"]["labels"] for pod in sluice.release.pods()]
    assert {each["app.kubernetes.io/component"] for each in labels} == COMPONENTS


def test_the_namespace_enforces_the_restricted_standard(sluice: Queries) -> None:
    namespace = sluice.release.cluster.get("namespace", sluice.release.namespace)
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_no_container_was_started_twice_but_for_stores_that_were_late(sluice: Queries) -> None:
    restarts = {
        status["name"]: (status["restartCount"], status.get("lastState"))
        for pod in sluice.release.pods()
        for status in pod["status"]["containerStatuses"]
        if status["restartCount"]
    }
    assert not restarts


def test_its_own_images_run_as_their_user_and_cannot_write_their_root(sluice: Queries) -> None:
    stores = ("kafka", "clickhouse", "neo4j")
    for pod in sluice.release.pods():
        if pod["metadata"]["labels"]["app.kubernetes.io/component"] in stores:
            continue
        assert pod["spec"]["securityContext"]["runAsUser"] == 65532
        assert all(each["securityContext"]["readOnlyRootFilesystem"] for each in pod["spec"]["containers"])
