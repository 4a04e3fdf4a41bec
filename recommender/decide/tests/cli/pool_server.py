"""A real gRPC server of sluice.pools.v1 with answers that a test sets."""

# ruff: noqa: N802 (method names are those of the service)

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_health.v1.health_pb2 import HealthCheckResponse

from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.candidate_pb2 import Candidate
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_pb2 import Pool
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceServicer, add_PoolSizeServiceServicer_to_server


@dataclass
class PoolServer(PoolSizeServiceServicer):
    """`explanations`: one a pool, in the order listed. `page_size`: of a list that does not say."""

    explanations: list[Explanation] = field(default_factory=list)
    address: str = ""
    page_size: int = 5_000
    paused: list[api.PausePoolRequest] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._server = grpc.server(ThreadPoolExecutor(4))
        add_PoolSizeServiceServicer_to_server(self, self._server)
        self._health = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def serve(self, status: HealthCheckResponse.ServingStatus.ValueType) -> None:
        self._health.set("", status)

    def __enter__(self) -> "PoolServer":
        self.serve(HealthCheckResponse.SERVING)
        self._server.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.stop(None).wait()

    def ListPoolSizes(
        self, request: api.ListPoolSizesRequest, context: grpc.ServicerContext
    ) -> api.ListPoolSizesResponse:
        sizes = [explanation.pool_size for explanation in self.explanations]
        wanted = [size for size in sizes if request.service in ("", size.pool.service)]
        start, size = int(request.page_token or 0), request.page_size or self.page_size
        more = str(start + size) if len(wanted) > start + size else ""
        return api.ListPoolSizesResponse(pool_sizes=wanted[start : start + size], next_page_token=more)

    def ListCandidates(
        self, request: api.ListCandidatesRequest, context: grpc.ServicerContext
    ) -> api.ListCandidatesResponse:
        wanted = [one for one in self.candidates if request.service in ("", one.pool.service)]
        return api.ListCandidatesResponse(candidates=wanted)

    def GetPoolSize(self, request: api.GetPoolSizeRequest, context: grpc.ServicerContext) -> api.GetPoolSizeResponse:
        return api.GetPoolSizeResponse(pool_size=self._find(request.pool, context).pool_size)

    def ExplainPoolSize(
        self, request: api.ExplainPoolSizeRequest, context: grpc.ServicerContext
    ) -> api.ExplainPoolSizeResponse:
        return api.ExplainPoolSizeResponse(explanation=self._find(request.pool, context))

    def PausePool(self, request: api.PausePoolRequest, context: grpc.ServicerContext) -> api.PausePoolResponse:
        self.paused.append(request)
        return api.PausePoolResponse()

    def ResumePool(self, request: api.ResumePoolRequest, context: grpc.ServicerContext) -> api.ResumePoolResponse:
        self._find(request.pool, context)
        return api.ResumePoolResponse()

    def ReportActuation(
        self, request: api.ReportActuationRequest, context: grpc.ServicerContext
    ) -> api.ReportActuationResponse:
        raise NotImplementedError("no test reports through the command line")

    def _find(self, pool: Pool, context: grpc.ServicerContext) -> Explanation:
        for explanation in self.explanations:
            if explanation.pool_size.pool == pool:
                return explanation
        context.abort(grpc.StatusCode.NOT_FOUND, f"no pool {pool.service}")
        raise AssertionError
