package server_test

import (
	"context"
	"testing"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/xds"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster"

var ab = journaltest.Client("a", "b")

// bounded is a delta client that knows the clusters of a's peers.
type bounded struct {
	t       *testing.T
	stream  discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
	cancel  func()
	version string
}

func (r *running) bounded(t *testing.T, instance, version string) *bounded {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := discovery.NewAggregatedDiscoveryServiceClient(r.link).DeltaAggregatedResources(ctx)
	must(t, err)
	request := &discovery.DeltaDiscoveryRequest{Node: &core.Node{Id: "a~" + instance}, TypeUrl: clusters, ResourceNamesSubscribe: []string{"b"}}
	if version != "" {
		request.InitialResourceVersions = map[string]string{"b": version}
	}
	must(t, stream.Send(request))
	return &bounded{t, stream, cancel, version}
}

// most is max_connections of the next cluster; the test sends refused as a NACK, or an ACK.
func (b *bounded) most(refused string) uint32 {
	b.t.Helper()
	impatient := time.AfterFunc(patience, b.cancel)
	defer impatient.Stop()
	response, err := b.stream.Recv()
	must(b.t, err)
	message := &cluster.Cluster{}
	must(b.t, response.GetResources()[0].GetResource().UnmarshalTo(message))
	b.version = response.GetResources()[0].GetVersion()
	answer := &discovery.DeltaDiscoveryRequest{TypeUrl: clusters, ResponseNonce: response.GetNonce()}
	if refused != "" {
		answer.ErrorDetail = &spb.Status{Code: 13, Message: refused}
	}
	must(b.t, b.stream.Send(answer))
	thresholds := message.GetCircuitBreakers().GetThresholds()[0]
	if thresholds.GetMaxRequests().GetValue() != 1<<32-1 || thresholds.GetMaxPendingRequests().GetValue() != 1<<32-1 {
		b.t.Errorf("requests beyond the size would fail: %v", thresholds)
	}
	return thresholds.GetMaxConnections().GetValue()
}

func (b *bounded) gets(want uint32, refused string) {
	b.t.Helper()
	if got := b.most(refused); got != want {
		b.t.Fatalf("max_connections %d, want %d", got, want)
	}
}

// observedSizes are the newest reported size of each instance, and the writes, oldest first.
func observedSizes(t *testing.T, journal *journaltest.Journal) (sizes map[string]*poolsv1.TargetSize, done []*poolsv1.Actuation) {
	t.Helper()
	sizes = map[string]*poolsv1.TargetSize{}
	for _, record := range journal.Read(t, journal.Observed) {
		observation := &poolsv1.ObservedSize{}
		must(t, proto.Unmarshal(record.Value, observation))
		sizes[observation.GetSize().GetInstance()] = observation.GetSize()
	}
	for _, record := range journal.Read(t, journal.Reports) {
		report := &poolsv1.Report{}
		must(t, proto.Unmarshal(record.Value, report))
		done = append(done, report.GetActuation())
	}
	return sizes, done
}

func bounds(t *testing.T) (*running, *journaltest.Decider, *journaltest.Journal, xds.SizedPools) {
	t.Helper()
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	pools, err := xds.ParseSizedPools("a/client/b, a/client/c")
	must(t, err)
	hold := journaltest.Apply(ab, 1, 12)
	hold.Action, hold.Current, hold.Sizes = commonv1.Action_ACTION_HOLD, nil, nil
	d.Publish(hold)
	return start(t, journal, options{xds: xds.Settings{SizedPools: pools}}).ready(t), d, journal, pools
}

func TestAnEnvoyIsGivenWhatADecisionSaysAndItsACKIsTheReadBack(t *testing.T) {
	r, d, journal, envoys := bounds(t)
	b := r.bounded(t, "a-1", "")
	b.gets(1<<32-1, "") // nobody decided anything that may be applied
	eventually(t, "it has no limit", func() bool { sizes, _ := observedSizes(t, journal); return sizes["a-1"].GetUnbounded() })
	d.Publish(journaltest.Apply(ab, 2, 12))
	b.gets(12, "")
	d.Publish(journaltest.Apply(ab, 3, 5))
	b.gets(5, "no")
	d.Publish(journaltest.Apply(ab, 4, 20))
	b.gets(20, "")
	eventually(t, "all is told", func() bool { _, done := observedSizes(t, journal); return len(done) == 3 })
	sizes, done := observedSizes(t, journal)
	if sizes["a-1"].GetSize() != 20 {
		t.Error(sizes)
	}
	for i, want := range []*poolsv1.Actuation{
		{Outcome: poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED, Revision: 2, Requested: proto.Uint32(12), ReadBack: proto.Uint32(12)},
		{Outcome: poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED, Revision: 3, Requested: proto.Uint32(5), Previous: proto.Uint32(12), ReadBack: proto.Uint32(12), Detail: "no"},
		{Outcome: poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED, Revision: 4, Requested: proto.Uint32(20), Previous: proto.Uint32(12), ReadBack: proto.Uint32(20)},
	} {
		got := done[i]
		want.Pool, want.Instance, want.TargetName, want.Actuator, want.At = ab.Proto(), "a-1", got.GetTargetName(), got.GetActuator(), got.GetAt()
		if want.Detail == "" {
			want.Detail = got.GetDetail()
		}
		if !proto.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	// HOLD changes nothing. Neither does another server, which sees by the Envoy's version that it has the size.
	hold := journaltest.Apply(ab, 5, 20)
	hold.Action, hold.Current, hold.Sizes[0].Instance, hold.Sizes[0].Size = commonv1.Action_ACTION_HOLD, proto.Uint32(20), "a-1", proto.Uint32(20)
	d.Publish(hold)
	b.cancel()
	r.stop()
	before := len(journal.Read(t, journal.Observed))
	again := start(t, journal, options{xds: xds.Settings{SizedPools: envoys}}).ready(t)
	same := again.bounded(t, "a-1", b.version)
	eventually(t, "it is seen to be in force", func() bool { return len(journal.Read(t, journal.Observed)) > before })
	if sizes, done := observedSizes(t, journal); sizes["a-1"].GetSize() != 20 || len(done) != 3 {
		t.Error(sizes, done)
	}
	d.Publish(journaltest.Apply(ab, 6, 10))
	same.gets(10, "")
}

func TestAWaveIsForTheInstancesThatItNames(t *testing.T) {
	r, d, _, _ := bounds(t)
	one, two := r.bounded(t, "a-1", ""), r.bounded(t, "a-2", "")
	one.gets(1<<32-1, "")
	two.gets(1<<32-1, "")
	wave := journaltest.Apply(ab, 2, 12)
	wave.Targets = []string{"a-1"}
	d.Publish(wave)
	one.gets(12, "")
	d.Publish(journaltest.Apply(ab, 3, 8))
	one.gets(8, "")
	two.gets(8, "")
}

func TestAPoolThatNobodyNamedStaysAsItIs(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(ab, 1, 12))
	r := start(t, journal, options{}).ready(t)
	b := r.bounded(t, "a-1", "")
	b.gets(1<<32-1, "")
	if sizes, done := observedSizes(t, journal); len(sizes)+len(done) > 0 {
		t.Error(sizes, done)
	}
}
