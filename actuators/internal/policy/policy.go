// Package policy decides what to do at one target. It is pure: the clock, the reading and the
// recommendation come in as values, a Decision goes out.
package policy

import (
	"fmt"
	"time"

	sluicev1 "sluice.dev/actuators/gen/sluice/v1"
)

// Rules are one target's own limits, from the actuator's configuration.
type Rules struct {
	// Apply is the opt-in: without it a target is only observed.
	Apply bool
	// Min and Max are the sizes that the target may be given, both inclusive, in threads or connections of
	// one instance. A target outside them is refused, not clamped: what it should be instead is the
	// recommender's to say.
	Min, Max uint32
	// Cooldown is the least time between two writes.
	Cooldown time.Duration
}

// Writes is what this process has written to the target so far; its zero value means nothing yet.
type Writes struct {
	// At is when the last write began.
	At time.Time
	// Size is the size of the last write, whatever came of it.
	Size uint32
	// Repeats counts how often Size has been written in a row: 1 after its first write.
	Repeats int
}

// Next returns w after one more write.
func (w Writes) Next(size uint32, at time.Time) Writes {
	if size != w.Size {
		return Writes{At: at, Size: size, Repeats: 1}
	}
	return Writes{At: at, Size: size, Repeats: w.Repeats + 1}
}

// maxDoublings bounds Wait at 64 cool-downs.
const maxDoublings = 6

// Wait is the least time between the last write and the next one:
//
//	cooldown                        for another size
//	cooldown * 2^min(repeats-1, 6)  for the same size again
//
// The same size is needed again when the target refused it, or when something else keeps moving the pool;
// both are reasons to ask less and less often. With a cool-down of 10 s: 10 s after the first write,
// 20 s after the second, 40 s after the third, never more than 640 s.
func (w Writes) Wait(size uint32, cooldown time.Duration) time.Duration {
	if w.Repeats == 0 {
		return 0
	}
	if size != w.Size {
		return cooldown
	}
	return cooldown << min(w.Repeats-1, maxDoublings)
}

// Decide says what to do at a target whose pool was just read as `current`, at `now`.
// answer is the newest recommendation for the pool, nil when there is none.
func Decide(rules Rules, answer *sluicev1.PoolSize, current uint32, writes Writes, now time.Time) Decision {
	decision := decide(rules, answer, current, writes, now)
	if rules.Apply {
		return decision
	}
	switch decision.Action {
	case Apply:
		decision.Text = fmt.Sprintf("recommend-only: would write %d over %d", decision.Size, current)
	case Refuse:
		decision.Text = "recommend-only: would refuse: " + decision.Text
	}
	decision.Action = Observe
	return decision
}

func decide(rules Rules, answer *sluicev1.PoolSize, current uint32, writes Writes, now time.Time) Decision {
	if answer == nil {
		return hold(NoAnswer, "no recommendation for this pool")
	}
	state := answer.GetState()
	if !applicable(state) {
		return hold(NotReady, "state %s carries no size to apply", state)
	}
	if answer.Target == nil {
		if state == sluicev1.State_UNSATURATED {
			return hold(NotReady, "state %s without a target", state)
		}
		return refuse(NoTarget, "state %s without a target", state)
	}

	size := answer.GetTarget()
	switch {
	case size == 0:
		return refuse(OutOfLimits, "a target of 0 would stop the service")
	case size == current:
		return hold(InPlace, "the size is %d already", current)
	case state == sluicev1.State_UNSATURATED && size < current:
		return hold(NoShrink, "%s: %d is never shrunk to %d", state, current, size)
	}
	if reason, ok := leaseOver(answer, now); ok {
		return refuse(LeaseOver, "%s", reason)
	}
	if size < rules.Min || size > rules.Max {
		return refuse(OutOfLimits, "target %d is outside the target's own limits %d..%d", size, rules.Min, rules.Max)
	}
	if since, wait := now.Sub(writes.At), writes.Wait(size, rules.Cooldown); wait > 0 && since < wait {
		if size == writes.Size {
			return hold(BackingOff, "wrote %d %d times and the size is %d: again after %s", size, writes.Repeats, current, wait)
		}
		return hold(CoolingDown, "the last write is less than %s ago", wait)
	}
	return Decision{Action: Apply, Code: Differs, Size: size, Text: fmt.Sprintf("write %d over %d", size, current)}
}

// applicable reports whether answers in this state may carry a size to apply. LEARNING and NO_DATA have no
// evidence, STALE has none that is fresh, PAUSED is an operator's word: each keeps what is there.
func applicable(state sluicev1.State) bool {
	switch state {
	case sluicev1.State_PROVIDED, sluicev1.State_GUARDED, sluicev1.State_UNSATURATED:
		return true
	default:
		return false
	}
}

// leaseOver holds at the very instant of valid_until, and for an answer without a lease.
func leaseOver(answer *sluicev1.PoolSize, now time.Time) (string, bool) {
	if !answer.GetValidUntil().IsValid() {
		return "the answer has no valid lease", true
	}
	until := answer.GetValidUntil().AsTime()
	if now.Before(until) {
		return "", false
	}
	return "the lease ended at " + until.UTC().Format(time.RFC3339), true
}
