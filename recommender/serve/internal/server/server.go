package server

import (
	"context"
	"fmt"
	"net"
	"time"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpoints "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"sluice.dev/serve/internal/access"
	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/xds"

	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
	tuningv1 "sluice.dev/api/tuning/v1"
)

// Limits, which README.md states.
const (
	// mostRead bounds the bytes read of a request: one with more than problem.MostReceived gets an error with legal values.
	mostRead    = 4 << 20
	mostHeaders = 16 << 10 // bytes of a request's metadata
	mostStreams = 1000     // calls of one connection at a time
	// window of a connection and of each stream, in bytes: requests are small, and the server must be able to hold a window.
	window = 64 << 10
)

// Server serves the services on an address.
type Server struct {
	service  *calls.Service
	hub      *xds.Hub
	grpc     *grpc.Server
	health   *health.Server
	listener *bounded
	drain    time.Duration
}

// Limits are those that the operator sets: how long calls may go on once Serve's context is done, and how many connections are
// open at once.
type Limits struct {
	Drain       time.Duration
	Connections int
}

// Listen listens at once; it answers calls after Serve. Health is NOT_SERVING until Ready.
func Listen(address string, service *calls.Service, hub *xds.Hub, a *access.Access, limits Limits, observe ...grpc.ServerOption) (*Server, error) {
	if err := a.CheckAddress(address); err != nil {
		return nil, err
	}
	open, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	listener := &bounded{Listener: open, most: int64(limits.Connections)}
	s := &Server{service: service, hub: hub, health: health.NewServer(), listener: listener, drain: limits.Drain, grpc: grpc.NewServer(append(observe,
		grpc.Creds(a.Transport()),
		grpc.InTapHandle(a.Tap),
		grpc.ChainUnaryInterceptor(a.Unary),
		grpc.ChainStreamInterceptor(a.Stream),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.MaxRecvMsgSize(mostRead),
		grpc.MaxHeaderListSize(mostHeaders),
		grpc.MaxConcurrentStreams(mostStreams),
		// As long as clients wait by default: when all of them reconnect at once, handshakes take long.
		grpc.ConnectionTimeout(20*time.Second),
		// Most connections are silent watches: the default of 32 kB each way would be most of their memory. A shared write
		// buffer is held only during a write, though by all of them at a change.
		grpc.SharedWriteBuffer(true),
		grpc.WriteBufferSize(2<<10),
		grpc.ReadBufferSize(0),
		grpc.StaticStreamWindowSize(window),
		grpc.StaticConnWindowSize(window),
		// Detects watchers that vanished; actuators ping every 20 s themselves.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute, Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
	)...)}
	registrar := problem.Registrar{ServiceRegistrar: s.grpc}
	poolsv1.RegisterPoolSizeServiceServer(registrar, service)
	subsetsv1.RegisterSubsetServiceServer(registrar, calls.Subsets{Service: service})
	tuningv1.RegisterTuningServiceServer(registrar, calls.Tuning{Service: service})
	discovery.RegisterAggregatedDiscoveryServiceServer(registrar, xds.NewServer(hub))
	endpoints.RegisterEndpointDiscoveryServiceServer(registrar, xds.NewEndpointServer(hub))
	healthv1.RegisterHealthServer(registrar, s.health)
	reflection.Register(struct { // v1 and v1alpha
		problem.Registrar
		reflection.ServiceInfoProvider
	}{registrar, s.grpc})
	s.Ready(false)
	return s, nil
}

// Address is the address that the server listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Connections are how many are open, and how many the server has closed at once because Limits were reached.
func (s *Server) Connections() (open, refused int64) {
	return s.listener.open.Load(), s.listener.refused.Load()
}

// Health is the state of the services, also for another listener.
func (s *Server) Health() healthv1.HealthServer { return s.health }

// Ready sets the health of the server and of the service.
func (s *Server) Ready(ready bool) {
	status := healthv1.HealthCheckResponse_NOT_SERVING
	if ready {
		status = healthv1.HealthCheckResponse_SERVING
	}
	for _, name := range []string{"", poolsv1.PoolSizeService_ServiceDesc.ServiceName, subsetsv1.SubsetService_ServiceDesc.ServiceName,
		tuningv1.TuningService_ServiceDesc.ServiceName} {
		s.health.SetServingStatus(name, status)
	}
}

// Serve answers until ctx is done. Then it sets NOT_SERVING, ends watches, and lets calls end for the drain.
func (s *Server) Serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- s.grpc.Serve(s.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", s.Address(), err)
	case <-ctx.Done():
	}
	s.health.Shutdown()
	s.service.Stop()
	s.hub.Stop()
	force := time.AfterFunc(s.drain, s.grpc.Stop)
	defer force.Stop()
	s.grpc.GracefulStop()
	return nil
}
