package policy_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/policy"
	"sluice.dev/actuators/internal/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// What the vectors cannot say: values that JSON, or another language, does not have.
func TestDecideOnWhatIsNoVector(t *testing.T) {
	rules := policy.Rules{Apply: true, Min: 2, Max: 128, MaxFactor: 2, Cooldown: 3 * time.Second}
	target := uint32(12)
	tests := []struct {
		name   string
		answer *poolsv1.PoolSize
		code   policy.Code
	}{
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
				if got := policy.Decide(rules, tt.answer, pool.Of(16), policy.Writes{}, noon); got.Code != tt.code {
					t.Errorf("%s: got %s (%s), want %s", tt.answer.State, got.Code, got.Text, tt.code)
				}
			}
		})
	}
}

// Whatever the answer and the rules are, what is written is legal, and no further away than one step.
func FuzzDecide(f *testing.F) {
	f.Add(true, uint32(2), uint32(128), 2.0, int32(2), uint32(12), true, uint32(64), false, int64(30), uint32(16), 1, int64(9))
	f.Add(true, uint32(0), uint32(0), 0.0, int32(2), uint32(0), false, uint32(0), true, int64(0), uint32(0), 0, int64(0))
	f.Add(false, uint32(2), uint32(128), 1.5, int32(0), uint32(12), true, uint32(64), false, int64(30), uint32(16), 1, int64(9))
	f.Fuzz(func(t *testing.T, apply bool, low, high uint32, factor float64, action int32, target uint32, hasTarget bool,
		limit uint32, unbounded bool, leaseSeconds int64, lastSize uint32, repeats int, sinceSeconds int64) {
		rules := policy.Rules{Apply: apply, Min: low, Max: high, MaxFactor: factor, Cooldown: 10 * time.Second}
		a := &poolsv1.PoolSize{Action: commonv1.Action(action), ValidUntil: timestamppb.New(noon.Add(time.Duration(leaseSeconds%1e6) * time.Second))}
		if hasTarget {
			a.Target = &target
		}
		current := pool.Of(limit)
		if unbounded {
			current = pool.Unbounded
		}
		writes := policy.Writes{At: noon.Add(-time.Duration(sinceSeconds%1e6) * time.Second), Size: lastSize, Repeats: max(repeats, 0)}

		d := policy.Decide(rules, a, current, writes, noon)
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
		between := d.Size >= min(target, limit) && d.Size <= max(target, limit)
		if d.Size == 0 || d.Size < low || d.Size > high || pool.Of(d.Size) == current || !(unbounded || between) {
			t.Fatalf("writes %d over %s, limits %d..%d, target %v, factor %g", d.Size, current, low, high, a.Target, factor)
		}
	})
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
}
