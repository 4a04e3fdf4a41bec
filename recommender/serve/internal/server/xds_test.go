package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoints "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/problem"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

const assignments = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"

// incremental is a client of delta xDS that knows endpoints by name.
type incremental struct {
	t      *testing.T
	stream discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
	cancel func()
	has    map[string]string
}

func (r *running) incremental(t *testing.T, node string, versions map[string]string, names ...string) *incremental {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := discovery.NewAggregatedDiscoveryServiceClient(r.link).DeltaAggregatedResources(ctx)
	must(t, err)
	c := &incremental{t, stream, cancel, map[string]string{}}
	for name, version := range versions {
		c.has[name] = version
	}
	must(t, stream.Send(&discovery.DeltaDiscoveryRequest{
		Node: &core.Node{Id: node}, TypeUrl: assignments, ResourceNamesSubscribe: names, InitialResourceVersions: versions,
	}))
	return c
}

// take is the next response; the test answers with refused as a NACK, or with an ACK.
func (c *incremental) take(refused string) map[string][]string {
	c.t.Helper()
	impatient := time.AfterFunc(patience, c.cancel)
	defer impatient.Stop()
	response, err := c.stream.Recv()
	must(c.t, err)
	if len(response.GetRemovedResources()) > 0 {
		c.t.Error("something was taken back", response)
	}
	got := map[string][]string{}
	for _, resource := range response.GetResources() {
		all := &endpoints.ClusterLoadAssignment{}
		must(c.t, resource.GetResource().UnmarshalTo(all))
		for _, locality := range all.GetEndpoints() {
			got[resource.GetName()] = append(got[resource.GetName()], locality.GetLocality().GetSubZone())
		}
		c.has[resource.GetName()] = resource.GetVersion()
	}
	answer := &discovery.DeltaDiscoveryRequest{TypeUrl: assignments, ResponseNonce: response.GetNonce()}
	if refused != "" {
		answer.ErrorDetail = &spb.Status{Code: int32(codes.InvalidArgument), Message: refused}
	}
	must(c.t, c.stream.Send(answer))
	return got
}

// silent asserts that no response comes for a while, in which one would have come.
func (c *incremental) silent(while func()) {
	c.t.Helper()
	received := make(chan error, 1)
	go func() { _, err := c.stream.Recv(); received <- err }()
	while()
	select {
	case err := <-received:
		c.t.Fatal("something was sent", err)
	case <-time.After(200 * time.Millisecond):
	}
	c.cancel()
	<-received
}

func only(t *testing.T, got map[string][]string, service string, instances ...string) {
	t.Helper()
	if len(got) != 1 || len(got[service]) != len(instances) {
		t.Fatalf("%v, want %v of %s alone", got, instances, service)
	}
	for i, instance := range instances {
		if got[service][i] != instance {
			t.Fatalf("%v, want %v", got, instances)
		}
	}
}

func TestDeltaSendsWhatChangedAndNothingTwice(t *testing.T) {
	r, d, journal := connected(t)
	c := r.incremental(t, "a~a-1", nil, "b", "c", "unknown")
	first := c.take("")
	if len(first) != 2 || len(first["b"]) != 1 || len(first["c"]) != 1 {
		t.Fatal(first)
	}
	d.Connect(nil, journaltest.Subset(a1b, 2, "b-1", "b-2"))
	only(t, c.take(""), "b", "b-1", "b-2")
	d.Connect(nil, journaltest.Subset(a1b, 3, "b-1", "b-2")) // for another reason: clients have it
	d.Connect(nil, journaltest.Subset(subsetOf("a", "a-2", "b"), 2, "b-1"))
	d.Connect([]*subsetsv1.ServiceContainers{journaltest.Containers("unknown", "u-1")})
	only(t, c.take(""), "unknown", "u-1")
	c.cancel()

	r.stop()
	again := start(t, journal, options{}).ready(t)
	next := again.incremental(t, "a~a-1", c.has, "b", "c", "unknown")
	d.Connect(nil, journaltest.Subset(subsetOf("a", "a-1", "c"), 4, "c-1"))
	d.Connect(nil, journaltest.DeletedSubset(a1b, 4)) // the container has no subset: it is given everybody
	d.Connect(nil, journaltest.Subset(subsetOf("a", "a-1", "b"), 5, "b-2"))
	for got := next.take(""); len(got["b"]) != 1; got = next.take("") {
	}
}

func TestWhatWasRefusedIsNotSentAgain(t *testing.T) {
	r, d, _ := connected(t)
	c := r.incremental(t, "a~a-1", nil, "b")
	only(t, c.take(""), "b", "b-1")
	d.Connect(nil, journaltest.Subset(a1b, 2, "b-2"))
	only(t, c.take("no such endpoint"), "b", "b-2")
	eventually(t, "it is counted", func() bool { return r.counted(t, "sluice_xds_answers_total", "REFUSED") == 1 })
	d.Publish()
	d.Connect(nil, journaltest.Subset(a1b, 3, "b-1", "b-2"))
	only(t, c.take(""), "b", "b-1", "b-2") // and not b-2 alone before
}

func TestAServerThatIsBehindAClientSendsNothing(t *testing.T) {
	r, d, journal := connected(t)
	ahead := start(t, journal, options{}).ready(t)
	c := ahead.incremental(t, "a~a-1", nil, "b")
	only(t, c.take(""), "b", "b-1")
	d.Connect(nil, journaltest.Subset(a1b, 2, "b-2"))
	only(t, c.take(""), "b", "b-2")
	// The version of a server that has read the next transaction, which this one reads only once it is committed.
	view := r.service.Tables().Subsets.View()
	eventually(t, "both have read it", func() bool {
		view = r.service.Tables().Subsets.View()
		e, _ := r.service.Tables().Subsets.Get(a1b)
		return e.Publication.GetRevision() == 2
	})
	version := further(c.has["b"], view.Shards[1].Position)
	behind := r.incremental(t, "a~a-1", map[string]string{"b": version}, "b")
	behind.silent(func() { r.service.Tables().Tick() })

	behind = r.incremental(t, "a~a-1", map[string]string{"b": version}, "b")
	d.Connect(nil, journaltest.Subset(a1b, 3, "b-1", "b-2"))
	only(t, behind.take(""), "b", "b-1", "b-2")
}

// further is a version of other content, with a place in shard 1.
func further(version string, offset int64) string {
	topic, _, _ := strings.Cut(version, "@")
	return fmt.Sprintf("%s@1:%d=other", topic, offset)
}

func TestANodeThatIsNoContainerIsTold(t *testing.T) {
	r, _, _ := connected(t)
	c := r.incremental(t, "sidecar", nil, "b")
	_, err := c.stream.Recv()
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "node.id")
}
