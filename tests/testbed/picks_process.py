"""A container's gRPC client as it is published: for each line on standard input it makes one call of TARGET, and prints
the name of the container that answered, or an empty line where none did. It ends with its input. Nothing of Sluice is
imported; the bootstrap of xDS is in GRPC_XDS_BOOTSTRAP_CONFIG."""

import sys

import grpc

METHOD = "/testbed.Index/Name"
LIMIT_S = 1.0
"""Of one call: a client without endpoints waits so long."""


def main(target: str) -> None:
    with grpc.insecure_channel(target) as channel:
        call = channel.unary_unary(METHOD, None, None)
        for _ in sys.stdin:
            try:
                name = call(b"", timeout=LIMIT_S).decode()
            except grpc.RpcError:
                name = ""
            print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
