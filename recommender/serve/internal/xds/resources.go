package xds

import (
	"math"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	router "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	manager "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Types of resources.
const (
	typePrefix   = "type.googleapis.com/"
	listenerType = typePrefix + "envoy.config.listener.v3.Listener"
	routeType    = typePrefix + "envoy.config.route.v3.RouteConfiguration"
	clusterType  = typePrefix + "envoy.config.cluster.v3.Cluster"
	endpointType = typePrefix + "envoy.config.endpoint.v3.ClusterLoadAssignment"
)

// resource is a resource in a node's version.
type resource struct {
	name    string
	version version
	body    *anypb.Any
	// revision of the resource's subset; 0 if it has none.
	revision uint64
	// poolSize is the size of the pool that a cluster gets; nil if none is set.
	poolSize *poolSize
}

// ads is the config source of all references: the stream that the resource came by.
func ads() *core.ConfigSource {
	return &core.ConfigSource{
		ResourceApiVersion:    core.ApiVersion_V3,
		ConfigSourceSpecifier: &core.ConfigSource_Ads{Ads: &core.AggregatedConfigSource{}},
	}
}

// namedResource is a resource that a gRPC client needs around the endpoints of a service. It follows from the service's name
// alone: the target xds:///SERVICE leads to a listener, a route and a cluster of that name.
func namedResource(kind, service string) (proto.Message, bool) {
	switch kind {
	case listenerType:
		return &listener.Listener{Name: service, ApiListener: &listener.ApiListener{ApiListener: packAny(&manager.HttpConnectionManager{
			RouteSpecifier: &manager.HttpConnectionManager_Rds{Rds: &manager.Rds{ConfigSource: ads(), RouteConfigName: service}},
			HttpFilters: []*manager.HttpFilter{{
				Name: "router", ConfigType: &manager.HttpFilter_TypedConfig{TypedConfig: packAny(&router.Router{})},
			}},
		})}}, true
	case routeType:
		return &route.RouteConfiguration{Name: service, VirtualHosts: []*route.VirtualHost{{
			Name: service, Domains: []string{"*"}, Routes: []*route.Route{{
				Match:  &route.RouteMatch{PathSpecifier: &route.RouteMatch_Prefix{Prefix: ""}},
				Action: &route.Route_Route{Route: &route.RouteAction{ClusterSpecifier: &route.RouteAction_Cluster{Cluster: service}}},
			}},
		}}}, true
	case clusterType:
		// Sluice does not bound the waiting requests: the default would be 1,024.
		most := wrapperspb.UInt32(math.MaxUint32)
		return &cluster.Cluster{
			Name: service, ClusterDiscoveryType: &cluster.Cluster_Type{Type: cluster.Cluster_EDS},
			EdsClusterConfig: &cluster.Cluster_EdsClusterConfig{EdsConfig: ads(), ServiceName: service},
			ConnectTimeout:   durationpb.New(5 * time.Second), LbPolicy: cluster.Cluster_ROUND_ROBIN,
			CircuitBreakers: &cluster.CircuitBreakers{Thresholds: []*cluster.CircuitBreakers_Thresholds{{
				MaxConnections: most, MaxPendingRequests: most, MaxRequests: most,
			}}},
		}, true
	}
	return nil, false
}

func packAny(message proto.Message) *anypb.Any {
	body := &anypb.Any{}
	if err := anypb.MarshalFrom(body, message, proto.MarshalOptions{Deterministic: true}); err != nil {
		panic(err) // only a string outside UTF-8 can fail, and decoding lets none in
	}
	return body
}
