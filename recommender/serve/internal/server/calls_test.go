package server_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

func TestUnaryAndWatchAgree(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	r := start(t, journal, options{})
	for revision := range uint64(3) {
		d.Publish(journaltest.Apply(cart, revision+1, uint32(revision)+8), journaltest.Apply(orders, revision+1, 4))
	}
	r.ready(t)
	w := r.watch(t, &ask{}).at(cart, 3)
	got, err := r.client.GetPoolSize(t.Context(), &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()})
	must(t, err)
	list, err := r.client.ListPoolSizes(t.Context(), &poolsv1.ListPoolSizesRequest{Service: "cart"})
	must(t, err)
	for _, size := range []*poolsv1.PoolSize{got.GetPoolSize(), list.GetPoolSizes()[0]} {
		if left := size.GetLeaseLeft().AsDuration(); left <= 50*time.Second || left > time.Minute {
			t.Error("lease left:", left)
		}
		size.LeaseLeft = nil
		if !proto.Equal(size, w.state[cart]) {
			t.Errorf("%v\n%v", size, w.state[cart])
		}
	}
}

func TestListsArePagedInOrder(t *testing.T) {
	journal := journaltest.New(t, 2)
	for shard := range int32(2) {
		var sizes []*poolsv1.PoolSize
		for n := range 5 {
			sizes = append(sizes, journaltest.Apply(journaltest.Server(fmt.Sprintf("s%d", 2*n+int(shard))), 1, 8))
		}
		journal.Decider(t, shard).Publish(sizes...)
	}
	r := start(t, journal, options{}).ready(t)
	var got []string
	var pages int
	for token := ""; ; pages++ {
		page, err := r.client.ListPoolSizes(t.Context(), &poolsv1.ListPoolSizesRequest{PageSize: 3, PageToken: token})
		must(t, err)
		for _, size := range page.GetPoolSizes() {
			got = append(got, size.GetPool().GetService())
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
		_, err = r.client.ListPoolSizes(t.Context(), &poolsv1.ListPoolSizesRequest{PageToken: token, Service: "s1"})
		assertError(t, err, codes.InvalidArgument, problem.FieldNotLegal, "page_token")
	}
	if fmt.Sprint(got) != "[s0 s1 s2 s3 s4 s5 s6 s7 s8 s9]" || pages != 3 {
		t.Error(got, pages)
	}
}

func TestAPageIsNeverTooLargeForAClient(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Lease = time.Hour // a slow machine reads the pages for longer than a minute, and an ended lease has no changes
	const pools, targets = 100, 4000
	d.Begin()
	for n := range pools {
		size := journaltest.Apply(journaltest.Server(fmt.Sprintf("s%03d", n)), 1, 8)
		for m := range targets {
			size.Sizes = append(size.Sizes, &poolsv1.TargetSize{Instance: fmt.Sprintf("instance-%d", m), Size: set(16)})
		}
		d.Put(journal.Decisions, keys.PoolOf(size.GetPool()).Record(), size)
	}
	d.Heartbeat()
	d.End(true)
	r := start(t, journal, options{}).ready(t)
	got, pages := 0, 0
	for request := (&poolsv1.ListPoolSizesRequest{}); ; {
		page, err := r.client.ListPoolSizes(t.Context(), request)
		must(t, err)
		got, pages = got+len(page.GetPoolSizes()), pages+1
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	if got != pools || pages < 3 {
		t.Error(got, pages)
	}
	changed := 0
	for request := (&poolsv1.DiffPoolSizesRequest{}); ; {
		page, err := r.client.DiffPoolSizes(t.Context(), request)
		must(t, err)
		changed += len(page.GetChanges())
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	if changed != pools*(targets+1) {
		t.Error(changed)
	}
}

func TestDiffIsWhatWouldChange(t *testing.T) {
	journal := journaltest.New(t, 1)
	held := journaltest.Apply(orders, 1, 4)
	held.Action = commonv1.Action_ACTION_HOLD
	rolling := journaltest.Apply(cart, 5, 8)
	rolling.Sizes = []*poolsv1.TargetSize{
		{Instance: "a", Size: set(8)}, {Instance: "b", Size: set(16)}, {Instance: "c", Unbounded: true},
	}
	journal.Decider(t, 0).Publish(held, rolling)
	r := start(t, journal, options{}).ready(t)
	got, err := r.client.DiffPoolSizes(t.Context(), &poolsv1.DiffPoolSizesRequest{})
	must(t, err)
	changes := got.GetChanges()
	if len(changes) != 2 || changes[0].GetInstance() != "b" || changes[0].GetCurrent() != 16 || changes[0].GetTarget() != 8 ||
		changes[0].GetRevision() != 5 || changes[1].GetInstance() != "c" || changes[1].Current != nil {
		t.Error(changes)
	}
}

func TestExplainsFromTheLog(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(cart, 1, 8), journaltest.Apply(orders, 1, 8))
	d.Explain(cart, &poolsv1.Explanation{Completions: 7})
	r := start(t, journal, options{}).ready(t)
	got, err := r.client.ExplainPoolSize(t.Context(), &poolsv1.ExplainPoolSizeRequest{Pool: cart.Proto()})
	must(t, err)
	if got.GetExplanation().GetCompletions() != 7 || got.GetExplanation().GetPoolSize().GetTarget() != 8 {
		t.Error(got)
	}
	got, err = r.client.ExplainPoolSize(t.Context(), &poolsv1.ExplainPoolSizeRequest{Pool: orders.Proto()})
	must(t, err)
	if got.GetExplanation().GetPoolSize().GetRevision() != 1 {
		t.Error("without an explanation the answer stands alone:", got)
	}
}

func (r *running) reports(t *testing.T, journal *journaltest.Journal) (reports []*poolsv1.Report) {
	t.Helper()
	for _, record := range journal.Read(t, journal.Reports) {
		report := &poolsv1.Report{}
		must(t, proto.Unmarshal(record.Value, report))
		reports = append(reports, report)
	}
	return reports
}

func TestReportsGoIntoTheLog(t *testing.T) {
	journal := journaltest.New(t, 2)
	journal.Decider(t, 0).Publish()
	journal.Decider(t, 1).Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	applied := report(func(*poolsv1.Actuation) {})
	for range 2 { // told again: the answer was lost
		_, err := r.client.ReportActuation(t.Context(), applied)
		must(t, err)
	}
	applied.RequestId = "mine"
	_, err := r.client.ReportActuation(t.Context(), applied)
	must(t, err)
	_, err = r.client.ReportActuation(t.Context(), report(func(a *poolsv1.Actuation) {
		a.Outcome, a.Instance = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED, "b"
	}))
	must(t, err)
	got := r.reports(t, journal)
	if len(got) != 3 || got[0].GetRequestId() == "" || got[0].GetRequestId() != got[1].GetRequestId() || got[2].GetRequestId() != "mine" {
		t.Error(got)
	}
	names := map[string]int{}
	for _, record := range journal.Read(t, journal.Observed) {
		names[string(record.Key)]++
		size := &poolsv1.ObservedSize{}
		must(t, proto.Unmarshal(record.Value, size))
		if record.Partition != 1 || size.GetSize().GetSize() != 8 || size.GetSize().GetReadAt() == nil {
			t.Error(record.Partition, size)
		}
		index := slices.IndexFunc(got, func(report *poolsv1.Report) bool {
			return proto.Equal(report.GetReceived(), size.GetSize().GetReadAt()) && report.GetRequestId() == size.GetRequestId()
		})
		if reported := size.GetSize().GetInstance() != "b"; reported != (index >= 0) || reported != (size.GetRequestId() != "") {
			t.Error("a size has the id and the time of its report, if there is one:", size)
		}
	}
	if names["target/cart/server//cart-1"] != 3 || names["target/cart/server//b"] != 1 {
		t.Error(names)
	}
}

// The use in a report goes with its size, and a figure that the target cannot report is absent.
func TestUseGoesIntoTheLogWithTheSize(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	mean := 2.5
	occupancies := map[string]*poolsv1.Occupancy{
		"full":  {Readings: 3, Full: 2, Busy: 8, BusyMean: 7.5, BusyMost: 8, Waiting: set(5), WaitingMean: &mean, WaitingMost: set(6)},
		"light": {Readings: 1},
		"mute":  nil,
	}
	for instance, use := range occupancies {
		_, err := r.client.ReportActuation(t.Context(), report(func(a *poolsv1.Actuation) {
			a.Outcome, a.Instance, a.Occupancy = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED, instance, use
		}))
		must(t, err)
	}
	for _, record := range journal.Read(t, journal.Observed) {
		observation := &poolsv1.ObservedSize{}
		must(t, proto.Unmarshal(record.Value, observation))
		want := occupancies[observation.GetSize().GetInstance()]
		if got := observation.GetSize().Occupancy; (got == nil) != (want == nil) || !proto.Equal(got, want) {
			t.Errorf("%s: %v, want %v", observation.GetSize().GetInstance(), got, want)
		}
		delete(occupancies, observation.GetSize().GetInstance())
	}
	if len(occupancies) > 0 {
		t.Error("not in the journal:", occupancies)
	}
}

// The shortest and the longest SLO go with the size, of an observation and of a write; absent stays absent. So does whether the
// actuator only recommends.
func TestAnSLOGoesIntoTheLogWithTheSize(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	slos := map[string]*durationpb.Duration{"a": durationpb.New(time.Millisecond), "b": durationpb.New(time.Hour), "c": nil}
	for instance, slo := range slos {
		_, err := r.client.ReportActuation(t.Context(), report(func(a *poolsv1.Actuation) {
			a.Instance, a.Slo, a.Recommends = instance, slo, instance == "b"
			if instance == "a" {
				a.Outcome = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED
			}
		}))
		must(t, err)
	}
	records := journal.Read(t, journal.Observed)
	if len(records) != len(slos) {
		t.Errorf("%d sizes, want %d", len(records), len(slos))
	}
	for _, record := range records {
		size := &poolsv1.ObservedSize{}
		must(t, proto.Unmarshal(record.Value, size))
		if want := slos[size.GetSize().GetInstance()]; (size.Slo == nil) != (want == nil) || !proto.Equal(size.Slo, want) {
			t.Errorf("%s: slo %v, want %v", size.GetSize().GetInstance(), size.Slo, want)
		}
		if size.GetRecommends() != (size.GetSize().GetInstance() == "b") {
			t.Errorf("%s: recommends %t", size.GetSize().GetInstance(), size.GetRecommends())
		}
	}
}

// Whether a pool was paused depends on the reports, of which the newest decision may be too old to know.
func TestAResumeKnowsAPauseThatNoDecisionHasYet(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8), journaltest.Apply(orders, 1, 8))
	first, second := start(t, journal, options{}).ready(t), start(t, journal, options{}).ready(t)
	_, err := first.client.PausePool(t.Context(), &poolsv1.PausePoolRequest{Pool: cart.Proto(), By: "ann"})
	must(t, err)
	for _, tt := range []struct {
		pool keys.Pool
		want bool
	}{{orders, false}, {cart, true}, {cart, false}} {
		resumed, err := second.client.ResumePool(t.Context(), &poolsv1.ResumePoolRequest{Pool: tt.pool.Proto(), By: "ann"})
		must(t, err)
		if resumed.GetWasPaused() != tt.want {
			t.Errorf("%s was paused: %t, want %t", tt.pool, resumed.GetWasPaused(), tt.want)
		}
	}
}

func TestPausesAndScalingGoIntoTheLog(t *testing.T) {
	journal := journaltest.New(t, 3)
	paused := journaltest.Apply(cart, 1, 8)
	paused.State = poolsv1.State_STATE_PAUSED
	journal.Decider(t, 0).Publish(journaltest.Apply(orders, 1, 8))
	journal.Decider(t, 1).Publish(paused)
	journal.Decider(t, 2).Publish(journaltest.Apply(journaltest.Client("orders", "cart"), 1, 8))
	r := start(t, journal, options{}).ready(t)
	_, err := r.client.PausePool(t.Context(), &poolsv1.PausePoolRequest{Pool: orders.Proto(), By: "ann", Why: "a sale", Size: set(12)})
	must(t, err)
	if first := r.reports(t, journal)[0].GetPause(); first.GetSize() != 12 || first.GetWhy() != "a sale" {
		t.Error("the decider is told", first)
	}
	resumed, err := r.client.ResumePool(t.Context(), &poolsv1.ResumePoolRequest{Pool: cart.Proto(), By: "ann"})
	must(t, err)
	if !resumed.GetWasPaused() {
		t.Error("it was paused")
	}
	later := timestamppb.New(time.Now().Add(time.Hour))
	response, err := r.client.NotifyScaling(t.Context(), &poolsv1.NotifyScalingRequest{
		ScalingEvent: &commonv1.ScalingEvent{Service: "cart", Source: "hpa", Replicas: set(3), At: later},
	})
	must(t, err)
	if response.GetPools() != 2 {
		t.Error(response)
	}
	response, err = r.client.NotifyScaling(t.Context(), &poolsv1.NotifyScalingRequest{
		ScalingEvent: &commonv1.ScalingEvent{Service: "unknown", Source: "hpa", Replicas: set(3)},
	})
	must(t, err)
	if response.GetPools() != 0 {
		t.Error(response)
	}
	byShard := map[int32]int{}
	for _, record := range journal.Read(t, journal.Reports) {
		byShard[record.Partition]++
	}
	if fmt.Sprint(byShard) != "map[0:2 1:3 2:2]" { // the unknown in each, a pause, a resumption and the event, the event
		t.Error(byShard)
	}
	_, err = r.client.PausePool(t.Context(), &poolsv1.PausePoolRequest{Pool: orders.Proto(), By: "ann", RequestId: "mine"})
	must(t, err)
	_, err = r.client.NotifyScaling(t.Context(), &poolsv1.NotifyScalingRequest{
		ScalingEvent: &commonv1.ScalingEvent{Service: "orders", Source: "hpa", Replicas: set(3)}, RequestId: "mine",
	})
	must(t, err)
	ids := map[string]int{}
	for _, report := range r.reports(t, journal) {
		ids[report.GetRequestId()]++
		if report.GetBy() != "ann" && report.GetBy() != "hpa" {
			t.Error(report)
		}
		if at := report.GetScaling().GetAt(); at != nil && at.AsTime().After(time.Now()) {
			t.Error("in force from the future on:", report)
		}
	}
	// Two under the caller's own id, the copies of an event under one, and the other three under one each.
	if ids["mine"] != 3 || ids[""] != 0 || len(ids) != 5 {
		t.Error(ids)
	}
}

func TestWithoutTheLogNothingIsStoredAndThatIsSaid(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	if !journal.Fake() {
		t.Skip("the broker is others' too")
	}
	journal.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := r.client.ReportActuation(ctx, report(func(*poolsv1.Actuation) {}))
	refused(t, err, codes.DeadlineExceeded)
	_, err = r.client.PausePool(t.Context(), &poolsv1.PausePoolRequest{Pool: cart.Proto(), By: "ann"})
	assertError(t, err, codes.Unavailable, problem.NotStored, "")
	if _, err := r.client.GetPoolSize(t.Context(), &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()}); err != nil {
		t.Error("what was read is served:", err)
	}
}
