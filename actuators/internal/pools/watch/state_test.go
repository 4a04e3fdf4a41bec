package watch

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

var (
	noon      = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cart      = pool.Key{Service: "cart", Side: poolsv1.Side_SIDE_SERVER}
	catalogue = pool.Key{Service: "catalogue", Side: poolsv1.Side_SIDE_SERVER}
)

func size(key pool.Key, target uint32, lease time.Duration) *poolsv1.WatchPoolSizesResponse {
	return &poolsv1.WatchPoolSizesResponse{Event: &poolsv1.WatchPoolSizesResponse_PoolSize{PoolSize: &poolsv1.PoolSize{
		Pool: key.Proto(), Action: commonv1.Action_ACTION_APPLY, Target: &target, ValidUntil: timestamppb.New(noon.Add(lease)),
	}}}
}

func snapshot(n uint32, token string) *poolsv1.WatchPoolSizesResponse {
	return &poolsv1.WatchPoolSizesResponse{ResumeToken: token,
		Event: &poolsv1.WatchPoolSizesResponse_Snapshot{Snapshot: &commonv1.Snapshot{Answers: n}}}
}

func heartbeat(lease time.Duration, token string) *poolsv1.WatchPoolSizesResponse {
	return &poolsv1.WatchPoolSizesResponse{ResumeToken: token,
		Event: &poolsv1.WatchPoolSizesResponse_Heartbeat{Heartbeat: &commonv1.Heartbeat{ValidUntil: timestamppb.New(noon.Add(lease))}}}
}

// take applies events; only the last one may end a batch, and all must be legal.
func take(t *testing.T, s *state, events ...*poolsv1.WatchPoolSizesResponse) {
	t.Helper()
	for i, event := range events {
		whole, err := s.apply(event)
		if err != nil || whole != (event.GetPoolSize() == nil) {
			t.Fatalf("event %d: whole %t, %v", i, whole, err)
		}
	}
}

// leases are those of cart and catalogue, after noon; -1 without a decision.
func leases(s *state) [2]time.Duration {
	now := Snapshot{Sizes: s.Answers, Lease: s.lease}
	var all [2]time.Duration
	for i, key := range []pool.Key{cart, catalogue} {
		if all[i] = -1; now.Answer(key) != nil {
			all[i] = now.Answer(key).GetValidUntil().AsTime().Sub(noon)
		}
	}
	return all
}

func TestHeartbeatsRenewTheLeasesOfAllThatWasReceived(t *testing.T) {
	s := newState()
	take(t, s, size(cart, 12, 30*time.Second), size(catalogue, 6, 20*time.Second), snapshot(2, "a.1"))
	if got := leases(s); got != [2]time.Duration{30 * time.Second, 20 * time.Second} {
		t.Errorf("after the snapshot: %v, want each its own", got)
	}
	take(t, s, heartbeat(35*time.Second, "a.2"))
	if got := leases(s); got != [2]time.Duration{35 * time.Second, 35 * time.Second} {
		t.Errorf("after a heartbeat: %v, want its lease on both", got)
	}
	take(t, s, size(cart, 16, 40*time.Second), heartbeat(41*time.Second, "a.3"))
	if got := leases(s); got != [2]time.Duration{41 * time.Second, 41 * time.Second} || s.Token != "a.3" {
		t.Errorf("after a change: %v and token %q", got, s.Token)
	}
	if got := s.Answers[cart].GetTarget(); got != 16 {
		t.Errorf("cart is %d, want 16", got)
	}
	take(t, s, size(cart, 16, 50*time.Second), snapshot(1, "b.1"))
	if got := leases(s); got != [2]time.Duration{50 * time.Second, -1} {
		t.Errorf("after a new snapshot: %v, want that of cart and no catalogue", got)
	}
}

// STALE is the one state that a heartbeat does not confirm: its lease is over, and stays over.
func TestHeartbeatsRenewNoStaleAnswer(t *testing.T) {
	s := newState()
	stale := size(cart, 12, -time.Second)
	stale.GetPoolSize().Action = commonv1.Action_ACTION_HOLD
	take(t, s, stale, size(catalogue, 6, 30*time.Second), snapshot(2, "a.1"), heartbeat(40*time.Second, "a.2"))
	if got := leases(s); got != [2]time.Duration{-time.Second, 40 * time.Second} {
		t.Errorf("leases %v, want the stale one's own", got)
	}
}

func TestABatchCountsWhole(t *testing.T) {
	s := newState()
	take(t, s, size(cart, 12, time.Minute), snapshot(1, "a.1"))
	before := s.Answers
	take(t, s, size(cart, 16, time.Minute))
	if got := s.Answers[cart].GetTarget(); got != 12 || s.Token != "a.1" {
		t.Errorf("half a batch changed cart to %d, token %q", got, s.Token)
	}
	s.Restart() // the stream broke; the token brings the answer again
	take(t, s, heartbeat(time.Minute, "a.1"))
	if got := s.Answers[cart].GetTarget(); got != 12 {
		t.Errorf("half a batch of a broken stream changed cart to %d", got)
	}
	take(t, s, size(cart, 16, time.Minute), heartbeat(time.Minute, "a.2"))
	if s.Answers[cart].GetTarget() != 16 || before[cart].GetTarget() != 12 {
		t.Error("want 16 now, and what was handed out before unchanged")
	}
}

func TestASnapshotThatLacksAnswersIsNotBelieved(t *testing.T) {
	s := newState()
	s.Token = "a.7"
	take(t, s, size(cart, 12, time.Minute))
	if whole, err := s.apply(snapshot(2, "a.8")); whole || err == nil || s.Token != "" || s.Answers != nil {
		t.Errorf("whole %t, error %v, token %q, sizes %v", whole, err, s.Token, s.Answers)
	}
}

// A decision without a pool belongs to no target, and events of a later API are ignored.
func TestStateToleratesNonsense(t *testing.T) {
	s := newState()
	nameless := &poolsv1.WatchPoolSizesResponse{Event: &poolsv1.WatchPoolSizesResponse_PoolSize{}}
	if whole, err := s.apply(&poolsv1.WatchPoolSizesResponse{ResumeToken: "x"}); whole || err != nil || s.Token != "" {
		t.Errorf("an unknown event: whole %t, %v, token %q", whole, err, s.Token)
	}
	take(t, s, size(cart, 12, time.Minute))
	if _, err := s.apply(nameless); err != nil {
		t.Error(err)
	}
	take(t, s, snapshot(2, "a.1"), &poolsv1.WatchPoolSizesResponse{
		ResumeToken: "a.2", Event: &poolsv1.WatchPoolSizesResponse_Heartbeat{Heartbeat: &commonv1.Heartbeat{}}})
	if got := leases(s); got[0] != time.Minute {
		t.Errorf("a heartbeat without a lease left %v, want the answer's own", got[0])
	}
}
