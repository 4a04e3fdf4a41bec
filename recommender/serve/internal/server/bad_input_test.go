package server_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/problem"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// assertError asserts that an error has its reason and field, and the legal values, in under a kilobyte.
func assertError(t *testing.T, err error, code codes.Code, reason, field string) {
	t.Helper()
	got := refused(t, err, code)
	if len(got.Message()) > 1000 {
		t.Errorf("a message of %d bytes", len(got.Message()))
	}
	var info *errdetails.ErrorInfo
	named := ""
	for _, detail := range got.Details() {
		switch part := detail.(type) {
		case *errdetails.ErrorInfo:
			info = part
		case *errdetails.BadRequest:
			named = part.GetFieldViolations()[0].GetField()
		}
	}
	if info.GetReason() != reason || info.GetDomain() != "sluice.dev" {
		t.Errorf("%v: reason %q, want %q", err, info.GetReason(), reason)
	}
	if named != field {
		t.Errorf("%v: field %q, want %q", err, named, field)
	}
	if field != "" && (info.GetMetadata()["legal"] == "" || !strings.Contains(got.Message(), "legal: ")) {
		t.Errorf("%v: what is legal?", err)
	}
}

func negative() *float64 {
	n := -1.0
	return &n
}

func set(n uint32) *uint32 { return &n }

func report(change func(*poolsv1.Actuation)) *poolsv1.ReportActuationRequest {
	a := &poolsv1.Actuation{
		Pool: cart.Proto(), TargetName: "cart-1", Actuator: "a", Outcome: poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED,
		ReadBack: set(8), Revision: 1, At: timestamppb.Now(),
	}
	change(a)
	return &poolsv1.ReportActuationRequest{Actuation: a}
}

func TestBadInputAtEveryEntry(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	c := start(t, journal, options{}).ready(t).client
	long := strings.Repeat("x", 3000)
	badPools := []struct {
		pool  *poolsv1.Pool
		field string
	}{
		{nil, "service"},
		{&poolsv1.Pool{Side: 1}, "service"},
		{&poolsv1.Pool{Service: "cart"}, "side"},
		{&poolsv1.Pool{Service: "cart", Side: 7}, "side"},
		{&poolsv1.Pool{Service: "cart", Side: 1, Peer: "db"}, "peer"},
		{&poolsv1.Pool{Service: "mail", Side: 3, Peer: "queue"}, "peer"},
		{&poolsv1.Pool{Service: "cart", Side: 2}, "peer"},
		{&poolsv1.Pool{Service: long, Side: 1}, "service"},
		{&poolsv1.Pool{Service: "cart", Side: 2, Peer: long}, "peer"},
	}
	ctx := t.Context()
	for _, bad := range badPools {
		reason := problem.FieldNotLegal
		if bad.field == "service" && bad.pool.GetService() == "" {
			reason = problem.FieldEmpty
		}
		_, err := c.GetPoolSize(ctx, &poolsv1.GetPoolSizeRequest{Pool: bad.pool})
		assertError(t, err, codes.InvalidArgument, reason, "pool."+bad.field)
		_, err = c.ExplainPoolSize(ctx, &poolsv1.ExplainPoolSizeRequest{Pool: bad.pool})
		assertError(t, err, codes.InvalidArgument, reason, "pool."+bad.field)
		_, err = c.PausePool(ctx, &poolsv1.PausePoolRequest{Pool: bad.pool, By: "me"})
		assertError(t, err, codes.InvalidArgument, reason, "pool."+bad.field)
		_, err = c.ResumePool(ctx, &poolsv1.ResumePoolRequest{Pool: bad.pool, By: "me"})
		assertError(t, err, codes.InvalidArgument, reason, "pool."+bad.field)
		_, err = c.ListPoolSizeHistory(ctx, &poolsv1.ListPoolSizeHistoryRequest{Pool: bad.pool})
		assertError(t, err, codes.InvalidArgument, reason, "pool."+bad.field)
		_, err = c.ReportActuation(ctx, report(func(a *poolsv1.Actuation) { a.Pool = bad.pool }))
		assertError(t, err, codes.InvalidArgument, reason, "actuation.pool."+bad.field)
	}
	for _, tt := range []struct {
		field  string
		reason string
		change func(*poolsv1.Actuation)
	}{
		{"target_name", problem.FieldEmpty, func(a *poolsv1.Actuation) { a.TargetName = "" }},
		{"actuator", problem.FieldEmpty, func(a *poolsv1.Actuation) { a.Actuator = "" }},
		{"actuator", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Actuator = long }},
		{"instance", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Instance = long }},
		{"detail", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Detail = strings.Repeat("x", 100_000) }},
		{"outcome", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Outcome = 0 }},
		{"outcome", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Outcome = 99 }},
		{"revision", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Revision = 1 << 63 }},
		{"read_back", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.ReadBack = nil }},
		{"slo", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Slo = durationpb.New(0) }},
		{"slo", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Slo = durationpb.New(time.Millisecond - 1) }},
		{"slo", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Slo = durationpb.New(time.Hour + 1) }},
		{"slo", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Slo = &durationpb.Duration{Seconds: 1 << 62} }},
		{"slo", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Slo = &durationpb.Duration{Seconds: 1, Nanos: -1} }},
		{"read_back", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.ReadBack = set(0) }},
		{"read_back", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Unbounded = true }},
		{"previous", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Previous = set(0) }},
		{"requested", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.Requested = set(0) }},
		{"at", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.At = &timestamppb.Timestamp{Seconds: math.MinInt64} }},
		{"at", problem.FieldNotLegal, func(a *poolsv1.Actuation) { a.At = &timestamppb.Timestamp{Nanos: -1} }},
		{"read_back", problem.FieldNotLegal, func(a *poolsv1.Actuation) {
			a.Outcome, a.ReadBack = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED, nil
		}},
	} {
		_, err := c.ReportActuation(ctx, report(tt.change))
		assertError(t, err, codes.InvalidArgument, tt.reason, "actuation."+tt.field)
	}
	for _, tt := range []struct {
		field  string
		reason string
		event  *commonv1.ScalingEvent
	}{
		{"scaling_event", problem.FieldEmpty, nil},
		{"scaling_event.service", problem.FieldEmpty, &commonv1.ScalingEvent{Source: "hpa", Version: "1"}},
		{"scaling_event.source", problem.FieldEmpty, &commonv1.ScalingEvent{Service: "cart", Version: "1"}},
		{"scaling_event", problem.FieldNotLegal, &commonv1.ScalingEvent{Service: "cart", Source: "hpa"}},
		{"scaling_event.version", problem.FieldNotLegal, &commonv1.ScalingEvent{Service: "cart", Source: "hpa", Version: long}},
		{"scaling_event.at", problem.FieldNotLegal, &commonv1.ScalingEvent{Service: "cart", Source: "hpa", Version: "1", At: &timestamppb.Timestamp{Seconds: -1}}},
		{"scaling_event.containers.instance", problem.FieldEmpty, ofContainers("")},
		{"scaling_event.containers.instance", problem.FieldNotLegal, ofContainers(long)},
		{"scaling_event.containers", problem.FieldNotLegal, ofContainers("cart-0", "cart-0")},
		{"scaling_event.cpu_limit_cores", problem.FieldNotLegal, cores(0)},
		{"scaling_event.cpu_limit_cores", problem.FieldNotLegal, cores(500_000)},
		{"scaling_event.cpu_limit_cores", problem.FieldNotLegal, cores(math.NaN())},
		{"scaling_event.cpu_limit_cores", problem.FieldNotLegal, cores(math.Inf(1))},
	} {
		_, err := c.NotifyScaling(ctx, &poolsv1.NotifyScalingRequest{ScalingEvent: tt.event})
		assertError(t, err, codes.InvalidArgument, tt.reason, tt.field)
	}
	_, err := c.PausePool(ctx, &poolsv1.PausePoolRequest{Pool: cart.Proto()})
	assertError(t, err, codes.InvalidArgument, problem.FieldEmpty, "by")
	_, err = c.PausePool(ctx, &poolsv1.PausePoolRequest{Pool: cart.Proto(), By: "me", Why: long})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "why")
	for field, use := range map[string]*poolsv1.Occupancy{
		"readings":     {Busy: 1, BusyMean: 1, BusyMost: 1},
		"full":         {Readings: 2, Full: 3},
		"busy":         {Readings: 1, Busy: 2, BusyMost: 1},
		"busy_mean":    {Readings: 1, BusyMean: math.NaN()},
		"waiting":      {Readings: 1, Waiting: set(1)},
		"waiting_mean": {Readings: 1, Waiting: set(1), WaitingMean: negative(), WaitingMost: set(1)},
	} {
		_, err := c.ReportActuation(ctx, report(func(a *poolsv1.Actuation) { a.Occupancy = use }))
		assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "actuation.occupancy."+field)
	}
	for _, size := range []uint32{0, 100_001} {
		_, err = c.PausePool(ctx, &poolsv1.PausePoolRequest{Pool: cart.Proto(), By: "me", Size: &size})
		assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "size")
	}
	_, err = c.ListPoolSizes(ctx, &poolsv1.ListPoolSizesRequest{PageSize: -1})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "page_size")
	_, err = c.DiffPoolSizes(ctx, &poolsv1.DiffPoolSizesRequest{PageToken: "x"})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "page_token")
	_, err = c.ListPoolSizeHistory(ctx, &poolsv1.ListPoolSizeHistoryRequest{Pool: cart.Proto(), PageToken: "x"})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "page_token")
	_, err = c.GetPoolSize(ctx, &poolsv1.GetPoolSizeRequest{Pool: orders.Proto()})
	assertError(t, err, codes.NotFound, problem.PoolUnknown, "")
	_, err = c.ReportActuation(ctx, &poolsv1.ReportActuationRequest{Actuation: report(func(*poolsv1.Actuation) {}).Actuation, RequestId: "a b"})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "request_id")
	_, err = c.PausePool(ctx, &poolsv1.PausePoolRequest{Pool: cart.Proto(), By: "ann", RequestId: "a b"})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "request_id")
	_, err = c.NotifyScaling(ctx, &poolsv1.NotifyScalingRequest{
		ScalingEvent: &commonv1.ScalingEvent{Service: "cart", Source: "hpa", Version: "2"}, RequestId: "a b",
	})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "request_id")
	_, err = c.ReportActuation(ctx, report(func(a *poolsv1.Actuation) { a.Detail = strings.Repeat("x", 3<<20) }))
	assertError(t, err, codes.ResourceExhausted, problem.TooLarge, "")
}

func ofContainers(instances ...string) *commonv1.ScalingEvent {
	event := &commonv1.ScalingEvent{Service: "cart", Source: "deploy"}
	for _, instance := range instances {
		event.Containers = append(event.Containers, &commonv1.ServiceContainer{Instance: instance})
	}
	return event
}

func cores(n float64) *commonv1.ScalingEvent {
	return &commonv1.ScalingEvent{Service: "cart", Source: "hpa", CpuLimitCores: &n}
}

func TestBadWatches(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	good := r.watch(t, &ask{}).awaitSnapshot().token
	for _, tt := range []struct {
		field string
		ask   *ask
	}{
		{"resume_token", &ask{ResumeToken: strings.Repeat("A", 100_000)}},
		{"resume_token", &ask{ResumeToken: "0123456789ab.17"}}, // no base64
		{"resume_token", &ask{ResumeToken: good[:len(good)-1]}},
		{"resume_token", &ask{ResumeToken: "B" + good[1:]}},
		{"resume_token", &ask{ResumeToken: good + "A"}},
		{"services[1]", &ask{Services: []string{"cart", ""}}},
		{"services", &ask{Services: make([]string, 101)}},
		{"pools[0].side", &ask{Pools: []*poolsv1.Pool{{Service: "cart"}}}},
		{"pools", &ask{Pools: make([]*poolsv1.Pool, 1001)}},
	} {
		stream, err := r.client.WatchPoolSizes(t.Context(), tt.ask)
		must(t, err)
		_, err = stream.Recv()
		reason := problem.FieldNotLegal
		if tt.field == "services[1]" {
			reason = problem.FieldEmpty
		}
		assertError(t, err, codes.InvalidArgument, reason, tt.field)
	}
}

// raw sends bytes as they are.
type raw struct{ encoding.CodecV2 }

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(mem.BufferSlice, any) error { return nil }

func TestBytesThatAreNoMessage(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	notText, err := proto.Marshal(&poolsv1.ListPoolSizesRequest{PageToken: "xx"})
	must(t, err)
	notText[len(notText)-1] = 0xff
	for _, bytes := range [][]byte{{0xff}, {0x0a, 0x7f, 1}, notText} {
		for _, method := range []string{"GetPoolSize", "ListPoolSizes", "ReportActuation", "NotifyScaling", "DiffPoolSizes"} {
			if method != "ListPoolSizes" && len(bytes) > 3 {
				continue
			}
			err := r.link.Invoke(t.Context(), "/sluice.pools.v1.PoolSizeService/"+method, &bytes, &[]byte{}, grpc.ForceCodecV2(raw{}))
			assertError(t, err, codes.InvalidArgument, problem.NotProtobuf, "")
		}
	}
	bad := []byte{0xff}
	stream, err := r.link.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true},
		"/sluice.pools.v1.PoolSizeService/WatchPoolSizes", grpc.ForceCodecV2(raw{}))
	must(t, err)
	must(t, stream.SendMsg(&bad))
	must(t, stream.CloseSend())
	assertError(t, stream.RecvMsg(&[]byte{}), codes.InvalidArgument, problem.NotProtobuf, "")
}

func TestBeforeTheLogIsReadCallsSaySo(t *testing.T) {
	journal := journaltest.New(t, 2)
	other := *journal
	other.Shards = 1
	r := start(t, &other, options{})
	eventually(t, "the refusal", func() bool {
		_, err := r.client.GetPoolSize(context.Background(), &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()})
		return strings.Contains(status.Convert(err).Message(), "configured are 1 shards")
	})
	_, err := r.client.ListPoolSizes(t.Context(), &poolsv1.ListPoolSizesRequest{})
	assertError(t, err, codes.Unavailable, problem.NotReadYet, "")
	stream, err := r.client.WatchPoolSizes(t.Context(), &ask{})
	must(t, err)
	_, err = stream.Recv()
	assertError(t, err, codes.Unavailable, problem.NotReadYet, "")
}
