package policy_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Cases outside the vectors: values that JSON, or another language, does not have.
func TestDecideBeyondTheVectors(t *testing.T) {
	rules := policy.Rules{Apply: true, Min: 2, Max: 128, MaxFactor: 2, Cooldown: 3 * time.Second}
	target := uint32(12)
	tests := []struct {
		name   string
		answer *poolsv1.PoolSize
		code   policy.Code
	}{
		{"counted down to nothing, whatever the time of day", &poolsv1.PoolSize{
			Action: commonv1.Action_ACTION_APPLY, Target: &target, ValidUntil: timestamppb.New(noon.Add(time.Hour)), LeaseLeft: durationpb.New(0),
		}, policy.LeaseOver},
		{"a second is left of it", &poolsv1.PoolSize{
			Action: commonv1.Action_ACTION_APPLY, Target: &target, ValidUntil: timestamppb.New(noon.Add(time.Hour)), LeaseLeft: durationpb.New(time.Second),
		}, policy.Differs},
		{"an action of a newer recommender",
			&poolsv1.PoolSize{Action: commonv1.Action(99), Target: &target, ValidUntil: timestamppb.New(noon.Add(time.Minute))}, policy.Held},
		{"a lease that is no time",
			&poolsv1.PoolSize{Action: commonv1.Action_ACTION_APPLY, Target: &target, ValidUntil: &timestamppb.Timestamp{Nanos: -1}}, policy.LeaseOver},
		{"one nanosecond of lease left",
			&poolsv1.PoolSize{Action: commonv1.Action_ACTION_APPLY, Target: &target, ValidUntil: timestamppb.New(noon.Add(1))}, policy.Differs},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for state := range poolsv1.State_name { // which says nothing to an actuator
				tt.answer.State = poolsv1.State(state)
				if got := policy.Decide(rules, tt.answer, policy.Replica{Size: pool.Of(16)}, noon); got.Code != tt.code {
					t.Errorf("%s: got %s (%s), want %s", tt.answer.State, got.Code, got.Text, tt.code)
				}
			}
		})
	}
}

// For any decision and legal rules, a written size is legal, nearer to the target size than the one in force, and at most one step
// from a size that was in force.
func FuzzDecide(f *testing.F) {
	f.Add(true, uint32(2), uint32(128), 2.0, int32(2), uint32(12), true, uint32(64), false, int64(30), uint32(16), 1, int64(9), uint32(16), uint32(12))
	f.Add(true, uint32(2), uint32(128), 2.0, int32(2), uint32(100), true, uint32(200), false, int64(30), uint32(16), 1, int64(9), uint32(16), uint32(30))
	f.Add(true, uint32(2), uint32(128), 2.0, int32(2), uint32(128), true, uint32(2), false, int64(30), uint32(0), 0, int64(9), uint32(0), uint32(1000))
	f.Add(true, uint32(0), uint32(0), 0.0, int32(2), uint32(0), false, uint32(0), true, int64(0), uint32(0), 0, int64(0), uint32(0), uint32(0))
	f.Add(false, uint32(2), uint32(128), 1.5, int32(0), uint32(12), true, uint32(64), false, int64(30), uint32(16), 1, int64(9), uint32(0), uint32(0))
	f.Fuzz(func(t *testing.T, apply bool, low, high uint32, factor float64, action int32, target uint32, hasTarget bool,
		limit uint32, unbounded bool, leaseSeconds int64, lastSize uint32, repeats int, sinceSeconds int64, kept, other uint32) {
		if !(factor > 1) {
			factor = 2
		}
		low, high = max(min(low, high), 1), max(low, high, 1) // as the configuration has them checked
		rules := policy.Rules{Apply: apply, Min: low, Max: high, MaxFactor: factor, Cooldown: 10 * time.Second}
		a := &poolsv1.PoolSize{Action: commonv1.Action(action), ValidUntil: timestamppb.New(noon.Add(time.Duration(leaseSeconds%1e6) * time.Second)),
			Sizes: []*poolsv1.TargetSize{{Instance: "other", Size: &other}}}
		if hasTarget {
			a.Target = &target
		}
		current := pool.Of(limit)
		if unbounded {
			current = pool.Unbounded
		}
		writes := policy.Writes{At: noon.Add(-time.Duration(sinceSeconds%1e6) * time.Second), Size: lastSize, Repeats: max(repeats, 0), Kept: kept}

		d := policy.Decide(rules, a, policy.Replica{Instance: "this", Size: current, Writes: writes}, noon)
		if !apply && d.Action != policy.Observe {
			t.Fatalf("%s without an opt-in", d.Action)
		}
		if d.Action != policy.Apply {
			return
		}
		if a.GetAction() != commonv1.Action_ACTION_APPLY {
			t.Fatalf("applies an answer that says %s", a.GetAction())
		}
		if leaseSeconds%1e6 <= 0 {
			t.Fatalf("writes after the lease")
		}
		near := func(from uint32) bool {
			size, from64 := float64(d.Size), float64(from)
			return size <= max(from64*factor, from64+1) && size >= min(from64/factor, from64-1)
		}
		back := (limit > high && d.Size == high) || (limit < low && d.Size == low)
		closer := unbounded || away(d.Size, target) < away(limit, target)
		if d.Size == 0 || d.Size < low || d.Size > high || !closer || !(unbounded || back || near(limit) || near(kept) || near(other)) {
			t.Fatalf("writes %d over %s, limits %d..%d, target %v, kept %d, other %d, factor %g", d.Size, current, low, high, target, kept, other, factor)
		}
	})
}

// away is the ratio of the larger of two sizes to the smaller.
func away(size, target uint32) float64 {
	return float64(max(size, target)) / float64(min(size, target))
}

func TestWritesWait(t *testing.T) {
	const cooldown = 10 * time.Second
	var w policy.Writes
	if got := w.Wait(12, cooldown); got != 0 {
		t.Errorf("before any write: wait %s, want 0", got)
	}
	// 10, 20, 40, 80, 160, 320, 640, and no more: 10 s * 2^6 = 640 s.
	for i, want := range []time.Duration{10, 20, 40, 80, 160, 320, 640, 640, 640} {
		w = w.Next(12, noon)
		if got := w.Wait(12, cooldown); got != want*time.Second {
			t.Errorf("after write %d of one size: wait %s, want %s", i+1, got, want*time.Second)
		}
		if got := w.Wait(13, cooldown); got != cooldown {
			t.Errorf("after write %d, another size: wait %s, want %s", i+1, got, cooldown)
		}
	}
	if w = w.Next(13, noon); w.Repeats != 1 {
		t.Errorf("another size starts at %d repeats, want 1", w.Repeats)
	}
	if w = w.Read(pool.Of(13)); w.Wait(13, cooldown) != 0 || w.Wait(12, cooldown) != cooldown {
		t.Errorf("a size that was kept waits %s, another %s, want 0 and %s", w.Wait(13, cooldown), w.Wait(12, cooldown), cooldown)
	}
	if w = w.Next(13, noon).Read(pool.Of(13)); w.Wait(13, cooldown) != 2*cooldown {
		t.Errorf("put right once, it waits %s, want %s", w.Wait(13, cooldown), 2*cooldown)
	}
}

func TestWritesKept(t *testing.T) {
	var w policy.Writes
	if w = w.Read(pool.Of(0)); w.Kept != 0 {
		t.Errorf("kept %d before any write", w.Kept)
	}
	for _, step := range []struct {
		does string
		then policy.Writes
		kept uint32
	}{
		{"written and not read", w.Next(12, noon).Read(pool.Of(64)), 0},
		{"read late", w.Next(12, noon).Read(pool.Of(64)).Read(pool.Of(12)), 12},
		{"changed by somebody", w.Next(12, noon).Read(pool.Of(12)).Read(pool.Of(200)).Read(pool.Unbounded), 12},
		{"the next write not taken", w.Next(12, noon).Read(pool.Of(12)).Next(6, noon).Read(pool.Of(12)), 12},
	} {
		if step.then.Kept != step.kept {
			t.Errorf("%s: kept %d, want %d", step.does, step.then.Kept, step.kept)
		}
	}
}
