"""`python -m sluice.decider.move --config OLD --to NEW`: moves pools with a new group to its shard.

No decider may run meanwhile. Servers may: watchers see no pool disappear, and no older revision.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import click

from sluice.config import Config, ConfigError, load
from sluice.decider.products import codec
from sluice.engine.codec import DeciderLog, DeciderShards
from sluice.journal.broker import Broker
from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.kafka_settings import KafkaSettingsError, from_environment
from sluice.journal.names import Topics
from sluice.journal.shard import AbortedError, FencedError, HungError, Identity, OlderError, PartitionsError
from sluice.model.keys import PoolKey
from sluice.pools.moving import Move, MovingShard, arrival, departure, moves

# The session of a killed decider ends within the first; the second is the time for taking all shards.
GONE_S, TAKEN_S = 15.0, 60.0
# A transaction must end within 10 s.
BATCH = 500


class MoveError(Exception):
    """Nothing was moved, or only a part. The move can be repeated."""


def check(old: Config, new: Config) -> None:
    """Raises MoveError where deciders of both files could decide the same pool."""
    if new.generation <= old.generation:
        raise MoveError(
            f"generation {new.generation} is not legal; legal: more than {old.generation}, that of the old file, so"
            " that no decider continues with it"
        )
    if len(new.groups) < len(old.groups):
        raise MoveError(
            f"{len(new.groups)} groups are not legal; legal: {len(old.groups)} or more: shards are never removed"
        )
    was, is_now = (_applications(config) for config in (old, new))
    if moved := [name for name in sorted(was.keys() & is_now.keys()) if was[name] != is_now[name]]:
        raise MoveError(f"subsets of {', '.join(moved)} cannot change their group; legal: their group in the old file")


def _applications(config: Config) -> dict[str, int]:
    """The shard of each application."""
    return {subset.called: config.groups.index(subset.group or config.groups[0]) for subset in config.subsets}


def move(
    config: Config,
    broker: Broker,
    names: Topics,
    wait: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> list[Move]:
    """Moves pools and returns the moves. A repetition moves the rest. Raises MoveError, and the journal's errors."""
    _alone(broker, wait)
    me = Identity(f"move-{platform.node()}-{os.getpid()}", len(config.groups), config.generation)
    shards = DeciderShards(broker, names, me, codec())
    try:
        taken = _taken(shards, len(config.groups))
        logs = {number: log for number, (log, _) in taken.items()}
        moving = {number: one for number, (_, one) in taken.items()}
        due_moves = moves(_shards_of(config), moving)
        for (source, target), batch in _batches(due_moves):
            logs[target].commit(arrival(batch, moving[source], moving[target], int(1e3 * clock())))
            shards.alive()
            logs[source].commit(departure(batch, moving[source], int(1e3 * clock())))
            shards.alive()
        return due_moves
    except (AbortedError, FencedError, HungError) as cause:
        raise MoveError(f"move pools: {cause}; a decider was started, or Kafka does not answer") from cause
    finally:
        shards.close()


def _alone(broker: Broker, wait: Callable[[float], None]) -> None:
    for _ in range(int(GONE_S)):
        if not (deciders := broker.deciders()):
            return
        wait(1.0)
    raise MoveError(f"move pools: {deciders} deciders own the shards; end them first")


def _taken(shards: DeciderShards, wanted: int) -> dict[int, tuple[DeciderLog, MovingShard]]:
    taken: dict[int, tuple[DeciderLog, MovingShard]] = {}
    until = time.monotonic() + TAKEN_S
    while len(taken) < wanted:
        if time.monotonic() > until:
            raise MoveError(f"move pools: took only {len(taken)} of {wanted} shards; is there a decider?")
        change = shards.poll(0.2)
        for number in change.left:
            taken.pop(number)
        if change.taken is not None:
            log, values = change.taken
            taken[log.shard] = log, MovingShard(values, log.received(), int(time.time() * 1e3))
    return taken


def _shards_of(config: Config) -> dict[PoolKey, int]:
    return {pool.key: config.groups.index(pool.group or config.groups[0]) for pool in config.pools}


def _batches(due_moves: Sequence[Move]) -> Iterator[tuple[tuple[int, int], list[Move]]]:
    def between(pool_move: Move) -> tuple[int, int]:
        return pool_move.source, pool_move.target

    for pair, group in groupby(sorted(due_moves, key=between), between):
        whole = list(group)
        for first in range(0, len(whole), BATCH):
            yield pair, whole[first : first + BATCH]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", "old", required=True, type=click.Path(path_type=Path), help="The deciders' present file.")
@click.option("--to", "new", required=True, type=click.Path(path_type=Path), help="The new file.")
def main(old: Path, new: Path) -> None:
    """Moves states, revisions, pauses and sizes of pools with a new group to its shard.

    End all deciders first, and start them with the new file afterwards. If the command is killed, repeat it. Topics
    need as many partitions as the new file has groups.

    \b
    SLUICE_KAFKA         the journal's brokers, comma-separated (127.0.0.1:9092)
    SLUICE_KAFKA_PROPERTIES  file of librdkafka's properties (TLS, SASL), like recommender/kafka.properties
    SLUICE_TOPIC_PREFIX  prefix of the topics' names (sluice_)
    """
    try:
        kafka = from_environment()
        config = load(new)
        check(load(old), config)
        broker = KafkaBroker(kafka.brokers, kafka.journal, "sluice-move", kafka.properties)
        moved = move(config, broker, kafka.journal)
    except (ConfigError, KafkaSettingsError, MoveError, OlderError, PartitionsError, HungError) as cause:
        click.echo(cause, err=True)
        sys.exit(2)
    for pool_move in moved:
        click.echo(f"{pool_move.key}: {config.groups[pool_move.source]} -> {config.groups[pool_move.target]}")
    click.echo(f"{len(moved)} pools moved" if moved else "nothing to move")


if __name__ == "__main__":
    main()
