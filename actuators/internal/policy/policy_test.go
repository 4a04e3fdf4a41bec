package policy_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	sluicev1 "sluice.dev/actuators/gen/sluice/v1"
	"sluice.dev/actuators/internal/policy"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// answer has a lease that ends 30 s after noon.
func answer(state sluicev1.State, target ...uint32) *sluicev1.PoolSize {
	a := &sluicev1.PoolSize{State: state, Revision: 7, ValidUntil: timestamppb.New(noon.Add(30 * time.Second))}
	if len(target) == 1 {
		a.Target = &target[0]
	}
	return a
}

func leased(a *sluicev1.PoolSize, until *timestamppb.Timestamp) *sluicev1.PoolSize {
	a.ValidUntil = until
	return a
}

func TestDecide(t *testing.T) {
	optedIn := policy.Rules{Apply: true, Min: 2, Max: 128, Cooldown: 10 * time.Second}
	recommendOnly := optedIn
	recommendOnly.Apply = false
	provided := sluicev1.State_PROVIDED

	tests := []struct {
		name    string
		rules   policy.Rules
		answer  *sluicev1.PoolSize
		current uint32
		writes  policy.Writes
		action  policy.Action
		code    policy.Code
		size    uint32
	}{
		{name: "a provided size that differs is written", rules: optedIn, answer: answer(provided, 12), current: 64,
			action: policy.Apply, code: policy.Differs, size: 12},
		{name: "a guarded size is written", rules: optedIn, answer: answer(sluicev1.State_GUARDED, 32), current: 64,
			action: policy.Apply, code: policy.Differs, size: 32},
		{name: "an unsaturated pool may grow", rules: optedIn, answer: answer(sluicev1.State_UNSATURATED, 80), current: 64,
			action: policy.Apply, code: policy.Differs, size: 80},
		{name: "an unsaturated pool never shrinks", rules: optedIn, answer: answer(sluicev1.State_UNSATURATED, 12), current: 64,
			action: policy.Hold, code: policy.NoShrink},
		{name: "an unsaturated pool needs no target", rules: optedIn, answer: answer(sluicev1.State_UNSATURATED), current: 64,
			action: policy.Hold, code: policy.NotReady},
		{name: "nothing to do when equal", rules: optedIn, answer: answer(provided, 64), current: 64,
			action: policy.Hold, code: policy.InPlace},
		{name: "equal is fine also after the lease", rules: optedIn, current: 64,
			answer: leased(answer(provided, 64), timestamppb.New(noon.Add(-time.Hour))),
			action: policy.Hold, code: policy.InPlace},

		{name: "no answer", rules: optedIn, current: 64, action: policy.Hold, code: policy.NoAnswer},
		{name: "unspecified state", rules: optedIn, answer: answer(sluicev1.State_STATE_UNSPECIFIED, 12), current: 64,
			action: policy.Hold, code: policy.NotReady},
		{name: "state of a newer recommender", rules: optedIn, answer: answer(sluicev1.State(99), 12), current: 64,
			action: policy.Hold, code: policy.NotReady},
		{name: "learning", rules: optedIn, answer: answer(sluicev1.State_LEARNING, 12), current: 64,
			action: policy.Hold, code: policy.NotReady},
		{name: "no data", rules: optedIn, answer: answer(sluicev1.State_NO_DATA), current: 64,
			action: policy.Hold, code: policy.NotReady},
		{name: "stale", rules: optedIn, answer: answer(sluicev1.State_STALE, 12), current: 64,
			action: policy.Hold, code: policy.NotReady},
		{name: "paused", rules: optedIn, answer: answer(sluicev1.State_PAUSED, 12), current: 64,
			action: policy.Hold, code: policy.NotReady},

		{name: "provided without a target", rules: optedIn, answer: answer(provided), current: 64,
			action: policy.Refuse, code: policy.NoTarget},
		{name: "never 0", rules: optedIn, answer: answer(provided, 0), current: 64,
			action: policy.Refuse, code: policy.OutOfLimits},
		{name: "never 0, whatever min says", rules: policy.Rules{Apply: true, Max: 128}, answer: answer(provided, 0), current: 64,
			action: policy.Refuse, code: policy.OutOfLimits},
		{name: "lease over since a second", rules: optedIn, current: 64,
			answer: leased(answer(provided, 12), timestamppb.New(noon.Add(-time.Second))),
			action: policy.Refuse, code: policy.LeaseOver},
		{name: "lease over at its very end", rules: optedIn, current: 64,
			answer: leased(answer(provided, 12), timestamppb.New(noon)),
			action: policy.Refuse, code: policy.LeaseOver},
		{name: "one nanosecond of lease left", rules: optedIn, current: 64,
			answer: leased(answer(provided, 12), timestamppb.New(noon.Add(1))),
			action: policy.Apply, code: policy.Differs, size: 12},
		{name: "no lease at all", rules: optedIn, current: 64, answer: leased(answer(provided, 12), nil),
			action: policy.Refuse, code: policy.LeaseOver},
		{name: "a lease that is no time", rules: optedIn, current: 64,
			answer: leased(answer(provided, 12), &timestamppb.Timestamp{Nanos: -1}),
			action: policy.Refuse, code: policy.LeaseOver},
		{name: "below min", rules: optedIn, answer: answer(provided, 1), current: 64,
			action: policy.Refuse, code: policy.OutOfLimits},
		{name: "above max", rules: optedIn, answer: answer(provided, 129), current: 64,
			action: policy.Refuse, code: policy.OutOfLimits},
		{name: "at min", rules: optedIn, answer: answer(provided, 2), current: 64,
			action: policy.Apply, code: policy.Differs, size: 2},
		{name: "at max", rules: optedIn, answer: answer(provided, 128), current: 64,
			action: policy.Apply, code: policy.Differs, size: 128},

		{name: "another size within the cool-down", rules: optedIn, answer: answer(provided, 12), current: 16,
			writes: policy.Writes{At: noon.Add(-9 * time.Second), Size: 16, Repeats: 1},
			action: policy.Hold, code: policy.CoolingDown},
		{name: "another size after the cool-down", rules: optedIn, answer: answer(provided, 12), current: 16,
			writes: policy.Writes{At: noon.Add(-10 * time.Second), Size: 16, Repeats: 1},
			action: policy.Apply, code: policy.Differs, size: 12},
		{name: "applied and in place is not applied twice", rules: optedIn, answer: answer(provided, 12), current: 12,
			writes: policy.Writes{At: noon.Add(-time.Hour), Size: 12, Repeats: 1},
			action: policy.Hold, code: policy.InPlace},
		{name: "applied and drifted is applied again", rules: optedIn, answer: answer(provided, 12), current: 64,
			writes: policy.Writes{At: noon.Add(-10 * time.Second), Size: 12, Repeats: 1},
			action: policy.Apply, code: policy.Differs, size: 12},
		{name: "third repeat waits 4 cool-downs: 39 s are too few", rules: optedIn, answer: answer(provided, 12), current: 64,
			writes: policy.Writes{At: noon.Add(-39 * time.Second), Size: 12, Repeats: 3},
			action: policy.Hold, code: policy.BackingOff},
		{name: "third repeat waits 4 cool-downs: 40 s are enough", rules: optedIn, answer: answer(provided, 12), current: 64,
			writes: policy.Writes{At: noon.Add(-40 * time.Second), Size: 12, Repeats: 3},
			action: policy.Apply, code: policy.Differs, size: 12},
		{name: "without a cool-down at once", rules: policy.Rules{Apply: true, Min: 1, Max: 128}, answer: answer(provided, 12), current: 64,
			writes: policy.Writes{At: noon, Size: 12, Repeats: 5},
			action: policy.Apply, code: policy.Differs, size: 12},

		{name: "recommend-only shows what it would write", rules: recommendOnly, answer: answer(provided, 12), current: 64,
			action: policy.Observe, code: policy.Differs, size: 12},
		{name: "recommend-only in place", rules: recommendOnly, answer: answer(provided, 64), current: 64,
			action: policy.Observe, code: policy.InPlace},
		{name: "recommend-only sends no NACK", rules: recommendOnly, answer: answer(provided, 0), current: 64,
			action: policy.Observe, code: policy.OutOfLimits},
		{name: "recommend-only without an answer", rules: recommendOnly, current: 64,
			action: policy.Observe, code: policy.NoAnswer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := policy.Decide(tt.rules, tt.answer, tt.current, tt.writes, noon)
			if got.Action != tt.action || got.Code != tt.code || got.Size != tt.size {
				t.Errorf("got %s/%s/%d (%s), want %s/%s/%d", got.Action, got.Code, got.Size, got.Text, tt.action, tt.code, tt.size)
			}
			if got.Text == "" || strings.Contains(got.Text, "%!") {
				t.Errorf("text %q is not for people", got.Text)
			}
		})
	}
}

// Whatever comes in, a decision to write carries a size within the limits, under a lease, of a target that opted in.
func FuzzDecide(f *testing.F) {
	f.Add(true, uint32(2), uint32(128), int32(1), uint32(12), true, uint32(64), int64(30), uint32(12), 1, int64(5))
	f.Add(false, uint32(0), uint32(0), int32(7), uint32(0), false, uint32(0), int64(-1), uint32(0), 0, int64(0))
	f.Fuzz(func(t *testing.T, apply bool, low, high uint32, state int32, target uint32, hasTarget bool,
		current uint32, leaseSeconds int64, lastSize uint32, repeats int, sinceSeconds int64) {
		rules := policy.Rules{Apply: apply, Min: low, Max: high, Cooldown: 10 * time.Second}
		a := answer(sluicev1.State(state))
		if hasTarget {
			a.Target = &target
		}
		a.ValidUntil = &timestamppb.Timestamp{Seconds: noon.Unix() + leaseSeconds%1e6}
		writes := policy.Writes{At: noon.Add(-time.Duration(sinceSeconds%1e6) * time.Second), Size: lastSize, Repeats: max(repeats, 0)}

		d := policy.Decide(rules, a, current, writes, noon)
		if !apply && d.Action != policy.Observe {
			t.Fatalf("%s without an opt-in", d.Action)
		}
		if d.Action != policy.Apply {
			return
		}
		if d.Size == 0 || d.Size < low || d.Size > high || d.Size == current || d.Size != a.GetTarget() {
			t.Fatalf("writes %d over %d, limits %d..%d, target %v", d.Size, current, low, high, a.Target)
		}
		if leaseSeconds%1e6 <= 0 {
			t.Fatalf("writes after the lease")
		}
		if state == int32(sluicev1.State_UNSATURATED) && d.Size < current {
			t.Fatalf("shrinks an unsaturated pool from %d to %d", current, d.Size)
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
