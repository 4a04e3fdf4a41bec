package xds

import (
	"fmt"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoints "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Localities are what the localities of endpoints stand for.
type Localities string

const (
	// ContainerLocalities has a locality for each endpoint.
	ContainerLocalities Localities = "container"
	// ZoneLocalities has a locality for each zone.
	ZoneLocalities Localities = "zone"
)

// ParseLocalities reads the name of Localities; ContainerLocalities for an empty text.
func ParseLocalities(text string) (Localities, error) {
	switch value := Localities(text); value {
	case "":
		return ContainerLocalities, nil
	case ContainerLocalities, ZoneLocalities:
		return value, nil
	}
	return "", fmt.Errorf("%q is not legal; legal: %s, %s", text, ContainerLocalities, ZoneLocalities)
}

// assignment has the endpoints with their weights, in localities with the sum of these. gRPC clients get a locality for each
// endpoint in any case: gRPC's round robin uses weights of localities, and ignores those of endpoints (grpc-go 1.84, C-core
// 1.85, Java 1.76). They get no endpoint that is not ready, since they would ignore it and its locality would stay empty.
// Envoy, which ignores weights of localities by default, uses the endpoint's weight.
func assignment(service string, assigned []endpoint, by Localities, grpc bool) *endpoints.ClusterLoadAssignment {
	message := &endpoints.ClusterLoadAssignment{ClusterName: service}
	ofZone := map[string]*endpoints.LocalityLbEndpoints{}
	for _, target := range assigned {
		if grpc && target.notReady {
			continue
		}
		locality := ofZone[target.zone]
		if by != ZoneLocalities || grpc || locality == nil {
			locality = &endpoints.LocalityLbEndpoints{Locality: &core.Locality{Zone: target.zone}, LoadBalancingWeight: &wrapperspb.UInt32Value{}}
			if by != ZoneLocalities || grpc {
				locality.Locality.SubZone = target.instance
			}
			ofZone[target.zone] = locality
			message.Endpoints = append(message.Endpoints, locality)
		}
		locality.LoadBalancingWeight.Value += target.weight
		locality.LbEndpoints = append(locality.LbEndpoints, lbEndpoint(target))
	}
	return message
}

func lbEndpoint(target endpoint) *endpoints.LbEndpoint {
	status := core.HealthStatus_UNKNOWN
	if target.notReady {
		status = core.HealthStatus_UNHEALTHY
	}
	return &endpoints.LbEndpoint{
		HealthStatus: status, LoadBalancingWeight: wrapperspb.UInt32(target.weight),
		HostIdentifier: &endpoints.LbEndpoint_Endpoint{Endpoint: &endpoints.Endpoint{Address: &core.Address{
			Address: &core.Address_SocketAddress{SocketAddress: &core.SocketAddress{
				Address: target.host, PortSpecifier: &core.SocketAddress_PortValue{PortValue: target.port},
			}},
		}}},
	}
}
