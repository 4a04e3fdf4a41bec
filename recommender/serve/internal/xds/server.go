package xds

import (
	"github.com/envoyproxy/go-control-plane/pkg/server/delta/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/sotw/v3"
	"google.golang.org/grpc/codes"

	"sluice.dev/serve/internal/access"
	"sluice.dev/serve/internal/problem"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

// anyType is the type of a stream that carries all types.
const anyType = ""

// Server is the aggregated discovery service: state of the world and delta, version 3.
type Server struct {
	discovery.UnimplementedAggregatedDiscoveryServiceServer
	hub *Hub
}

// NewServer serves the resources of hub.
func NewServer(hub *Hub) *Server { return &Server{hub: hub} }

// StreamAggregatedResources implements the service.
func (s *Server) StreamAggregatedResources(stream discovery.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	client, closed := s.client(access.From(stream.Context()).Name)
	defer closed()
	return s.ended(sotw.NewServer(s.hub.ctx, client, nil).StreamHandler(stream, anyType))
}

// DeltaAggregatedResources implements the service.
func (s *Server) DeltaAggregatedResources(stream discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	client, closed := s.client(access.From(stream.Context()).Name)
	defer closed()
	return s.ended(delta.NewServer(s.hub.ctx, client, nil).DeltaStreamHandler(stream, anyType))
}

func (s *Server) client(caller string) (c *client, closed func()) {
	c = &client{
		hub: s.hub, caller: caller, types: map[string]struct{}{}, endpointCache: map[string]*cachedEndpoints{}, acked: map[string]string{}, revisions: map[string]uint64{},
		offered: map[string]poolSize{}, inForce: map[string]poolSize{},
	}
	s.hub.counts.streams.Inc()
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.clients[c] = struct{}{}
	return c, func() {
		s.hub.counts.streams.Dec()
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		delete(s.hub.clients, c)
	}
}

// ended is the error for a client when the server stops.
func (s *Server) ended(err error) error {
	if err == nil && s.hub.ctx.Err() != nil {
		return problem.New(codes.Unavailable, problem.Stopping, "the server stops: connect to another")
	}
	return err
}
