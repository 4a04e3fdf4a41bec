package server_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"

	commonv1 "sluice.dev/api/common/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

func subsetOf(upstream, instance, downstream string) keys.Subset {
	return keys.Subset{Upstream: upstream, Instance: instance, Downstream: downstream}
}

var a1b = subsetOf("a", "a-1", "b")

// connected is a server on a journal in which two containers of a are connected to some of b and c.
func connected(t *testing.T) (*running, *journaltest.Decider, *journaltest.Journal) {
	journal := journaltest.New(t, 2)
	d := journal.Decider(t, 1)
	d.Connect([]*subsetsv1.ServiceContainers{journaltest.Containers("b", "b-1", "b-2"), journaltest.Containers("c", "c-1")},
		journaltest.Subset(a1b, 1, "b-1"), journaltest.Subset(subsetOf("a", "a-2", "b"), 1, "b-2"),
		journaltest.Subset(subsetOf("a", "a-1", "c"), 3, "c-1"), journaltest.Subset(subsetOf("ab", "x", "c"), 3, "c-1"))
	return start(t, journal, options{}).ready(t), d, journal
}

func TestASubsetIsGotAsItIsInTheLog(t *testing.T) {
	r, d, _ := connected(t)
	got, err := r.subsets.GetSubset(t.Context(), &subsetsv1.GetSubsetRequest{Key: a1b.Proto()})
	must(t, err)
	want := journaltest.Subset(a1b, 1, "b-1")
	want.Shard = 1
	if !proto.Equal(got.GetSubset(), want) {
		t.Errorf("%v, want %v", got, want)
	}
	d.Connect(nil, journaltest.DeletedSubset(a1b, 2))
	eventually(t, "it is gone", func() bool {
		_, err = r.subsets.GetSubset(t.Context(), &subsetsv1.GetSubsetRequest{Key: a1b.Proto()})
		return err != nil
	})
	assertError(t, err, codes.NotFound, problem.SubsetUnknown, "")
}

func TestSubsetsAreListedInOrderAndPages(t *testing.T) {
	r, _, _ := connected(t)
	list := func(request *subsetsv1.ListSubsetsRequest) (text string) {
		for {
			page, err := r.subsets.ListSubsets(t.Context(), request)
			must(t, err)
			for _, s := range page.GetSubsets() {
				text += keys.SubsetOf(s.GetKey()).String() + "; "
			}
			if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
				return text
			}
		}
	}
	for want, request := range map[string]*subsetsv1.ListSubsetsRequest{
		"a/a-1 to b; a/a-2 to b; a/a-1 to c; ab/x to c; ": {PageSize: 1},
		"a/a-1 to b; a/a-2 to b; a/a-1 to c; ":            {Upstream: "a", PageSize: 2},
		"a/a-1 to b; a/a-1 to c; ":                        {Upstream: "a", Instance: "a-1"},
		"a/a-1 to c; ab/x to c; ":                         {Downstream: "c"},
		"":                                                {Downstream: "nothing"},
	} {
		if got := list(request); got != want {
			t.Errorf("%v: %s, want %s", request, got, want)
		}
	}
	first, err := r.subsets.ListSubsets(t.Context(), &subsetsv1.ListSubsetsRequest{PageSize: 1})
	must(t, err)
	_, err = r.subsets.ListSubsets(t.Context(), &subsetsv1.ListSubsetsRequest{PageToken: first.GetNextPageToken(), Upstream: "a"})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "page_token")
}

func TestAPairIsExplainedWithItsRun(t *testing.T) {
	r, d, journal := connected(t)
	pair := &subsetsv1.Pair{Upstream: "a", Downstream: "b"}
	ask := &subsetsv1.ExplainPairRequest{Pair: pair}
	_, err := r.subsets.ExplainPair(t.Context(), ask)
	assertError(t, err, codes.NotFound, problem.PairUnknown, "")
	d.Begin()
	d.Put(journal.Explanations, keys.Pair{Upstream: "a", Downstream: "b"}.Record(), &subsetsv1.PairExplanation{Pair: pair, Quota: 12, Application: "a"})
	d.Put(journal.Explanations, keys.Application("a"), &subsetsv1.Run{Strategy: "microns", Iterations: 9})
	d.Heartbeat()
	d.End(true)
	var got *subsetsv1.ExplainPairResponse
	eventually(t, "it is explained", func() bool {
		got, err = r.subsets.ExplainPair(t.Context(), ask)
		return err == nil && got.GetRun() != nil
	})
	if got.GetExplanation().GetQuota() != 12 || got.GetRun().GetIterations() != 9 {
		t.Error(got)
	}
}

func delivery(change func(*subsetsv1.Delivery)) *subsetsv1.ReportDeliveryRequest {
	d := &subsetsv1.Delivery{
		Key: a1b.Proto(), Outcome: subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_APPLIED, Revision: 1, Client: "a-1", At: timestamppb.Now(),
	}
	change(d)
	return &subsetsv1.ReportDeliveryRequest{Delivery: d}
}

func TestADeliveryIsWrittenToTheSubsetsShard(t *testing.T) {
	r, _, journal := connected(t)
	request := delivery(func(*subsetsv1.Delivery) {})
	for range 2 {
		_, err := r.subsets.ReportDelivery(t.Context(), request)
		must(t, err)
	}
	records := journal.Read(t, journal.Reports)
	var ids []string
	for _, record := range records {
		report := &subsetsv1.SubsetReport{}
		must(t, proto.Unmarshal(record.Value, report))
		if string(record.Key) != a1b.Record() || record.Partition != 1 || !proto.Equal(report.GetDelivery(), request.GetDelivery()) || report.GetBy() != "a-1" {
			t.Error(record, report)
		}
		ids = append(ids, report.GetRequestId())
	}
	if len(ids) != 2 || ids[0] != ids[1] {
		t.Error("told again it is another", ids)
	}
}

func TestBadInputAtEveryEntryOfSubsets(t *testing.T) {
	r, _, _ := connected(t)
	long := strings.Repeat("x", 3000)
	for _, tt := range []struct {
		key   *subsetsv1.SubsetKey
		field string
	}{
		{nil, "upstream"}, {&subsetsv1.SubsetKey{Upstream: "a", Downstream: "b"}, "instance"},
		{&subsetsv1.SubsetKey{Upstream: "a", Instance: "a-1"}, "downstream"},
		{&subsetsv1.SubsetKey{Upstream: "a", Instance: long, Downstream: "b"}, "instance"},
	} {
		reason := problem.FieldEmpty
		if tt.key.GetInstance() == long {
			reason = problem.FieldNotLegal
		}
		_, err := r.subsets.GetSubset(t.Context(), &subsetsv1.GetSubsetRequest{Key: tt.key})
		assertError(t, err, codes.InvalidArgument, reason, "key."+tt.field)
		_, err = r.subsets.ReportDelivery(t.Context(), delivery(func(d *subsetsv1.Delivery) { d.Key = tt.key }))
		assertError(t, err, codes.InvalidArgument, reason, "delivery.key."+tt.field)
	}
	for field, change := range map[string]func(*subsetsv1.Delivery){
		"client":   func(d *subsetsv1.Delivery) { d.Client = long },
		"detail":   func(d *subsetsv1.Delivery) { d.Detail = strings.Repeat(long, 2) },
		"outcome":  func(d *subsetsv1.Delivery) { d.Outcome = 9 },
		"revision": func(d *subsetsv1.Delivery) { d.Revision = 1 << 40 },
		"at":       func(d *subsetsv1.Delivery) { d.At = &timestamppb.Timestamp{Seconds: -5} },
	} {
		_, err := r.subsets.ReportDelivery(t.Context(), delivery(change))
		assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "delivery."+field)
	}
	_, err := r.subsets.ReportDelivery(t.Context(), delivery(func(d *subsetsv1.Delivery) { d.Client = "" }))
	assertError(t, err, codes.InvalidArgument, problem.FieldEmpty, "delivery.client")
	_, err = r.subsets.ReportDelivery(t.Context(), delivery(func(d *subsetsv1.Delivery) { d.Key.Upstream = "other" }))
	assertError(t, err, codes.NotFound, problem.SubsetUnknown, "")
	_, err = r.subsets.ExplainPair(t.Context(), &subsetsv1.ExplainPairRequest{Pair: &subsetsv1.Pair{Upstream: "a"}})
	assertError(t, err, codes.InvalidArgument, problem.FieldEmpty, "pair.downstream")
	_, err = r.subsets.ListSubsets(t.Context(), &subsetsv1.ListSubsetsRequest{PageSize: -1})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "page_size")
	_, err = r.subsets.ListSubsets(t.Context(), &subsetsv1.ListSubsetsRequest{Instance: long})
	assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "instance")
	for field, request := range map[string]*subsetsv1.WatchSubsetsRequest{"resume_token": {ResumeToken: "?"}, "upstream": {Upstream: long}} {
		stream, err := r.subsets.WatchSubsets(t.Context(), request)
		must(t, err)
		_, err = stream.Recv()
		assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, field)
	}
}

func TestAWatchOfSubsetsGoesOnWhereItWas(t *testing.T) {
	r, d, _ := connected(t)
	w := r.connections(t, &subsetsv1.WatchSubsetsRequest{Upstream: "a"}).awaitSnapshot()
	if w.snapshots != 1 || len(w.state) != 3 || w.resumption != commonv1.Resumption_RESUMPTION_NO_TOKEN {
		t.Error(w.snapshots, w.state, w.resumption)
	}
	d.Connect(nil, journaltest.Subset(a1b, 2, "b-2"), journaltest.Subset(subsetOf("ab", "x", "c"), 4, "c-1"))
	w.until(func() bool { return w.state[a1b].GetRevision() == 2 })
	if w.answers != 1 {
		t.Errorf("%d were told, want the one of a", w.answers)
	}
	w = w.resume(r, &subsetsv1.WatchSubsetsRequest{Upstream: "a"}).awaitSnapshot()
	if w.answers != 0 || w.snapshots != 0 {
		t.Error("a token that is good was not", w.answers, w.resumption)
	}
	if w = w.resume(r, &subsetsv1.WatchSubsetsRequest{}).awaitSnapshot(); w.resumption != commonv1.Resumption_RESUMPTION_OTHER_FILTER || w.answers != 4 {
		t.Error(w.resumption, w.answers)
	}
	pools := r.watch(t, &ask{}).awaitSnapshot()
	w.token = pools.token
	if w = w.resume(r, &subsetsv1.WatchSubsetsRequest{}).awaitSnapshot(); w.resumption != commonv1.Resumption_RESUMPTION_OTHER_FILTER {
		t.Error("a token of pools was taken for one of subsets", w.resumption)
	}
}
