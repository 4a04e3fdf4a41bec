"""A client of gRPC as it is published: calls TARGET without a pause, and writes a line a second: who answered how often
since it began, and the failures. Nothing of Sluice is imported. A bootstrap is in GRPC_XDS_BOOTSTRAP_CONFIG."""

import json
import sys
import time
from collections import Counter

import grpc

METHOD = "/stock.Backend/Name"
# Of one call: a client that has nobody to call waits, and fails at the end.
LIMIT_S = 20.0


def main(target: str) -> None:
    answers: Counter[str] = Counter()
    failures: list[str] = []
    with grpc.insecure_channel(target) as channel:
        call = channel.unary_unary(METHOD, None, None)
        due = time.monotonic() + 1
        while True:
            try:
                answers[call(b"", timeout=LIMIT_S).decode()] += 1
            except grpc.RpcError as cause:
                failures.append(str(cause))
            time.sleep(0.002)
            if time.monotonic() >= due:
                due += 1
                print(json.dumps({"answers": answers, "failures": failures}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
