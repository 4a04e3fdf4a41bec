"""What may befall the processes of a stack, and for how long."""

from dataclasses import dataclass

#: The folders of a stack's state that have a disk of their own, by the process that needs them.
FOLDERS = {
    "kafka": "data/kafka", "clickhouse": "data/clickhouse", "neo4j": "data/neo4j", "collector": "data/collector",
    "flink": "flink", "logs": "logs",
}  # fmt: skip
#: Who asks whom: a process, and a key of [ports] in stack.toml.
ASKS = (
    ("collector", "kafka"), ("flink-taskmanager", "kafka"), ("flink-taskmanager", "clickhouse_http"),
    ("flink-taskmanager", "neo4j_bolt"), ("flink-taskmanager", "flink_rpc"), ("jobs", "flink_rest"),
    ("decider", "kafka"), ("decider", "clickhouse_http"), ("server", "kafka"), ("records", "kafka"),
    ("records", "clickhouse_http"), ("actuator", "recommender"),
)  # fmt: skip
PROCESSES = (
    "collector", "kafka", "flink-jobmanager", "flink-taskmanager", "clickhouse", "neo4j", "decider", "server",
    "records", "actuator", "jobs",
)  # fmt: skip
#: Those that mostly ask for more memory within a minute; the others are idle for longer.
ALLOCATE = ("collector", "kafka", "flink-jobmanager", "flink-taskmanager", "clickhouse", "neo4j")
ALL = "every process, its supervisor too"
#: All of ASKS at once.
EVERY = "every connection"
#: How far a clock is stepped, s: leap seconds and drift, and a wrong setting.
CLOCKS = {"clock 1 h ahead": 3600, "clock 1 h behind": -3600, "clock 2 s ahead": 2, "clock 2 s behind": -2}
CUTS = ("cut", "requests lost", "answers lost", "reset", "slow")
OF_PROCESSES = ("stop", "no descriptors", *CLOCKS)
OF_DISKS = ("full disk", "disk stands still")
SLOW_DISK = "disk is slow"
#: Of random schedules: with another number of kinds, each seed has another schedule.
KINDS = ("kill", "all killed", "no memory", *OF_PROCESSES, *OF_DISKS, *CUTS)


@dataclass(frozen=True)
class Fault:
    """kind: of KINDS, or SLOW_DISK. victim: of PROCESSES; of no memory, of ALLOCATE; of a disk, of FOLDERS; ALL, also
    of a clock and of stop; EVERY, of CUTS. peer: of CUTS, a key of [ports]; of a full disk, a process that is stopped
    meanwhile."""

    kind: str
    victim: str
    seconds: float = 0.0
    peer: str = ""

    def __str__(self) -> str:
        between = " with a stopped " if self.kind in OF_DISKS else " to "
        what = f"{self.kind}: {self.victim}" + (between + self.peer if self.peer else "")
        return what + (f", {self.seconds:g} s" if self.seconds else "")
