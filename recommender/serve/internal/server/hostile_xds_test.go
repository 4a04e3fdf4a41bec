package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/problem"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// endOf is the error that ends a stream of delta xDS after these requests.
func (r *running) endOf(t *testing.T, requests ...*discovery.DeltaDiscoveryRequest) error {
	t.Helper()
	stream, err := discovery.NewAggregatedDiscoveryServiceClient(r.link).DeltaAggregatedResources(t.Context())
	must(t, err)
	for _, request := range requests {
		if stream.Send(request) != nil {
			break
		}
	}
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := stream.Recv(); err != nil {
				ended <- err
				return
			}
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		t.Fatal("the server keeps all of it")
		return nil
	}
}

func TestWhatAStreamOfXDSKeepsIsBounded(t *testing.T) {
	r, _, _ := hostileWorld(t)
	node := &core.Node{Id: "a~a-1"}
	var types, names []*discovery.DeltaDiscoveryRequest
	for n := range 100 {
		types = append(types, &discovery.DeltaDiscoveryRequest{Node: node, TypeUrl: fmt.Sprint("type.googleapis.com/", n)})
		names = append(names, &discovery.DeltaDiscoveryRequest{
			Node: node, TypeUrl: assignments, ResourceNamesSubscribe: []string{fmt.Sprint(n, strings.Repeat("x", 50_000))},
		})
	}
	assertError(t, r.endOf(t, types...), codes.InvalidArgument, problem.FieldNotLegal, "type_url")
	assertError(t, r.endOf(t, names...), codes.InvalidArgument, problem.FieldNotLegal, "resource_names")
	notText := &discovery.DeltaDiscoveryRequest{Node: &core.Node{Id: "a%ff~a-1"}, TypeUrl: assignments}
	assertError(t, r.endOf(t, notText), codes.InvalidArgument, problem.FieldNotLegal, "node.id")
}

func TestBytesThatAreNoRequestOfXDS(t *testing.T) {
	r, _, _ := hostileWorld(t)
	for _, method := range []string{"StreamAggregatedResources", "DeltaAggregatedResources"} {
		stream, err := r.link.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
			"/envoy.service.discovery.v3.AggregatedDiscoveryService/"+method, grpc.ForceCodecV2(raw{}))
		must(t, err)
		bad := []byte{0xff}
		must(t, stream.SendMsg(&bad))
		assertError(t, stream.RecvMsg(&[]byte{}), codes.InvalidArgument, problem.NotProtobuf, "")
	}
}

// refuse answers the first endpoints of a new stream with a NACK.
func (r *running) refuse(t *testing.T, why string) {
	t.Helper()
	c := r.incremental(t, "a~a-1", nil, "b")
	c.take(why)
	must(t, c.stream.CloseSend())
	for {
		if _, err := c.stream.Recv(); err != nil {
			return
		}
	}
}

func TestAStormOfNACKsLeavesALogThatCanBeRead(t *testing.T) {
	r, _, lines := hostileWorld(t)
	const streams = 300
	for n := range streams {
		r.refuse(t, fmt.Sprint("no such endpoint ", n))
	}
	eventually(t, "all are counted", func() bool { return r.counted(t, "sluice_xds_answers_total", "REFUSED") == streams })
	if n := lines.Load(); n < 1 || n > 20 {
		t.Errorf("%d lines of log for %d refusals", n, streams)
	}
}

func TestTheReasonOfANACKIsCutBetweenCharacters(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Connect([]*subsetsv1.ServiceContainers{journaltest.Containers("b", "b-1")}, journaltest.Subset(subsetOf("a", "a-1", "b"), 1, "b-1"))
	r := start(t, journal, options{}).ready(t)
	r.refuse(t, "x"+strings.Repeat("é", 5000)) // byte 4096 is the first of a character's two
	eventually(t, "the journal has the refusal", func() bool {
		for _, record := range journal.Read(t, journal.Reports) {
			report := &subsetsv1.SubsetReport{}
			must(t, proto.Unmarshal(record.Value, report))
			if detail := report.GetDelivery().GetDetail(); len(detail) == 4095 && utf8.ValidString(detail) {
				return true
			}
		}
		return false
	})
}

// A client that reads nothing holds up no other: the server sends to each from what is newest when the client can take more.
func TestAClientOfXDSThatReadsNothingDelaysNobody(t *testing.T) {
	r, d, _ := hostileWorld(t)
	stuck, err := discovery.NewAggregatedDiscoveryServiceClient(r.link).DeltaAggregatedResources(t.Context())
	must(t, err)
	many := make([]string, 3000) // some 200 kB of endpoints: more than a stream's window
	for n := range many {
		many[n] = fmt.Sprintf("b-%d", n+1)
	}
	must(t, stuck.Send(&discovery.DeltaDiscoveryRequest{Node: &core.Node{Id: "a~a-9"}, TypeUrl: assignments, ResourceNamesSubscribe: []string{"b"}}))
	reader := r.incremental(t, "a~a-1", nil, "b")
	reader.take("")
	for revision := range uint64(20) {
		last := fmt.Sprintf("b-%d", revision+2) // of the journal's first subset it is b-1
		d.Connect([]*subsetsv1.ServiceContainers{journaltest.Containers("b", many[:len(many)-int(revision)]...)},
			journaltest.Subset(subsetOf("a", "a-1", "b"), 2+revision, last))
		for got := reader.take(""); len(got["b"]) != 1 || got["b"][0] != last; got = reader.take("") {
		}
	}
}

// A client returns the version that it had. One with a shard that no journal has must not end the server.
func TestAVersionWithAShardThatNoJournalHas(t *testing.T) {
	r, _, _ := hostileWorld(t)
	c := r.incremental(t, "a~a-1", nil, "b")
	c.take("")
	topic, _, _ := strings.Cut(c.has["b"], "@")
	for _, shard := range []string{"-1", "-2147483648", "2147483647"} {
		again := r.incremental(t, "a~a-1", map[string]string{"b": topic + "@" + shard + ":9=x"}, "b")
		only(t, again.take(""), "b", "b-1")
	}
}
