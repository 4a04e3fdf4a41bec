"""Topics whose partitions are shards: another number of them is refused."""

from __future__ import annotations

import subprocess
import sys
import uuid
from pathlib import Path

import yaml

from sluice_kit.servers.kafka import Broker

REPOSITORY = Path(__file__).resolve().parents[4]


def test_another_number_of_partitions_is_refused(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic(f"decisions-{uuid.uuid4().hex}", like="sluice_decisions")
    about = yaml.safe_load((REPOSITORY / "collector/topics.yaml").read_text())["topics"]["sluice_decisions"]
    wanted = tmp_path / "topics.yaml"
    wanted.write_text(yaml.safe_dump({"topics": {topic: about | {"partitions": 2}}}))
    words = [REPOSITORY / "deploy/local/kafka/topics.py", "--bootstrap", broker.bootstrap, "--topics", wanted]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert f"{topic} has 1 partitions, and is to have 2" in done.stderr
