package server_test

import (
	"testing"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoints "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	eds "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	"sluice.dev/serve/internal/journaltest"
)

// A sidecar of Istio, whose clusters come from istiod, takes the endpoints of its pod's subset by the endpoint service.
func TestASidecarTakesItsEndpointsAlone(t *testing.T) {
	r, d, _ := connected(t)
	d.Connect(nil, journaltest.Subset(a1b, 2, "b-2"))
	metadata, err := structpb.NewStruct(map[string]any{"NAME": "a-1", "LABELS": map[string]any{"app": "a"}})
	must(t, err)
	sidecar := &core.Node{Id: "sidecar~10.0.0.1~a-1.shop~shop.svc.cluster.local", Metadata: metadata}
	first := func(resources []*anypb.Any) string {
		message := &endpoints.ClusterLoadAssignment{}
		must(t, resources[0].UnmarshalTo(message))
		return message.GetClusterName() + " " + message.GetEndpoints()[0].GetLocality().GetSubZone()
	}
	client := eds.NewEndpointDiscoveryServiceClient(r.link)
	eventually(t, "state of the world", func() bool {
		stream, err := client.StreamEndpoints(t.Context())
		must(t, err)
		must(t, stream.Send(&discovery.DiscoveryRequest{Node: sidecar, TypeUrl: assignments, ResourceNames: []string{"b"}}))
		response, err := stream.Recv()
		must(t, err)
		return first(response.GetResources()) == "b b-2"
	})
	stream, err := client.DeltaEndpoints(t.Context())
	must(t, err)
	must(t, stream.Send(&discovery.DeltaDiscoveryRequest{Node: sidecar, TypeUrl: assignments, ResourceNamesSubscribe: []string{"b"}}))
	response, err := stream.Recv()
	must(t, err)
	if got := first([]*anypb.Any{response.GetResources()[0].GetResource()}); got != "b b-2" {
		t.Error(got)
	}
}
