package xds

import (
	endpoints "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/delta/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/sotw/v3"

	"sluice.dev/serve/internal/access"
)

// EndpointServer is the endpoint discovery service: state of the world and delta, version 3. An Envoy whose clusters come from
// another control plane takes endpoints from it alone, by an api_config_source.
type EndpointServer struct {
	endpoints.UnimplementedEndpointDiscoveryServiceServer
	server *Server
}

// NewEndpointServer serves the endpoints of hub.
func NewEndpointServer(hub *Hub) *EndpointServer { return &EndpointServer{server: NewServer(hub)} }

// StreamEndpoints implements the service.
func (s *EndpointServer) StreamEndpoints(stream endpoints.EndpointDiscoveryService_StreamEndpointsServer) error {
	client, closed := s.server.client(access.From(stream.Context()).Name)
	defer closed()
	return s.server.ended(sotw.NewServer(s.server.hub.ctx, client, nil).StreamHandler(stream, endpointType))
}

// DeltaEndpoints implements the service.
func (s *EndpointServer) DeltaEndpoints(stream endpoints.EndpointDiscoveryService_DeltaEndpointsServer) error {
	client, closed := s.server.client(access.From(stream.Context()).Name)
	defer closed()
	return s.server.ended(delta.NewServer(s.server.hub.ctx, client, nil).DeltaStreamHandler(stream, endpointType))
}
