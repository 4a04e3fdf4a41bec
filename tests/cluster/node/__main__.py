"""Runs a node until it is interrupted: python -m cluster.node FOLDER. Tests with SLUICE_NODE=FOLDER use and keep it."""

import signal
import sys
from pathlib import Path

from cluster.node.prerequisites import alone, missing
from cluster.node.start import node

if lacking := missing():
    sys.exit("a node does not run here; missing " + "; ".join(lacking))
signal.signal(signal.SIGTERM, signal.default_int_handler)
folder = Path(sys.argv[1]).resolve()
folder.mkdir(parents=True)
with alone(), node(folder) as cluster:
    print(f"the node runs: export KUBECONFIG={cluster.kubeconfig}", flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        print("the node stops", flush=True)
