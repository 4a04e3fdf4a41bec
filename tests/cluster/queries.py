"""What the installed Sluice holds: rows of ClickHouse, answers of the command line."""

import base64
import json
from dataclasses import dataclass

import grpc
import requests

from cluster.helm import Release
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub


@dataclass(frozen=True)
class Queries:
    release: Release

    def value(self, query: str) -> int:
        """The one number that a query returns; -1 where ClickHouse does not answer."""
        login = ("sluice_reader", self.secret("clickhouse-reader-password").decode())
        try:
            answer = requests.post(self._url(), data=query, auth=login, timeout=60)
        except requests.RequestException:
            return -1
        if answer.status_code != 200:
            return -1
        return int(answer.text.strip() or -1)

    def cli(self, *words: str) -> str:
        """What `sluice` prints in the decider's pod."""
        return self.within("sluice", *words)

    def findings(self) -> dict[tuple[str, str], dict[str, str]]:
        """What `sluice doctor` finds there, by stage and check."""
        found = json.loads(self.within("sh", "-c", "sluice doctor -o json --timeout 30 || true"))
        return {(one["stage"], one["what"]): one for one in found}

    def within(self, *words: str) -> str:
        """What a program of the decider's pod prints."""
        place = (f"deployment/{self.release.name}-decider", "-n", self.release.namespace)
        return self.release.cluster.kubectl("exec", *place, "--", *words)

    def sizes(self) -> dict[str, PoolSize]:
        """The served answers by service; none where the server does not answer."""
        try:
            with self.channel() as channel:
                answers = PoolSizeServiceStub(channel).ListPoolSizes(api.ListPoolSizesRequest(), timeout=60)
        except grpc.RpcError:
            return {}
        return {size.pool.service: size for size in answers.pool_sizes}

    def target(self, service: str) -> int:
        """The recommended size of the service's pool; 0 without one."""
        size = self.sizes().get(service)
        return 0 if size is None else size.target

    def channel(self) -> grpc.Channel:
        """To the server's Service, with TLS and the token of the release's Secret."""
        name = f"{self.release.name}-server"
        options = (("grpc.ssl_target_name_override", name),)
        credentials = grpc.composite_channel_credentials(
            grpc.ssl_channel_credentials(self.secret("ca.crt")),
            grpc.access_token_call_credentials(self.secret("token").decode()),
        )
        return grpc.secure_channel(f"{self.address('server')}:50051", credentials, options)

    def secret(self, key: str) -> bytes:
        """A value of the release's Secret."""
        data = self.release.cluster.get("secret", "sluice", "-n", self.release.namespace)["data"]
        return base64.b64decode(data[key])

    def address(self, service: str) -> str:
        """The cluster's address of a Service of the release."""
        name = f"{self.release.name}-{service}"
        found = self.release.cluster.get("service", name, "-n", self.release.namespace)
        return str(found["spec"]["clusterIP"])

    def _url(self) -> str:
        return f"http://{self.address('clickhouse')}:8123/?database=sluice"
