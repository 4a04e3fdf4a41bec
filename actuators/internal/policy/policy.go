// Package policy decides what to do at one target. It is pure: the clock, the reading and the
// recommendation come in as values, a Decision goes out.
//
// tests/contract/decisions/apply.json has its cases; the testbed's actuator passes the same.
package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice.dev/actuators/internal/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Rules are one target's own limits, from the actuator's configuration.
type Rules struct {
	// Apply is the opt-in: without it a target is only observed.
	Apply bool
	// Min and Max are the sizes that the target may be given, both inclusive, in threads or connections of
	// one instance. A target outside them is refused, not clamped: what it should be instead is the
	// recommender's to say.
	Min, Max uint32
	// MaxFactor, above 1, is how much larger, or smaller, one write may make the pool than a size that was in force.
	MaxFactor float64
	// Cooldown is the least time between two writes; Writes.Wait has what waits longer, and what does not wait.
	Cooldown time.Duration
	// PerHour is how many writes an hour may have, however many the recommender asks for; 0 is no limit.
	PerHour int
	// Quiet are hours in which nothing is written.
	Quiet []Hours
	// Stopped: the kill switch is on, nothing is written.
	Stopped bool
	// Foreign says who else has the target, or why nobody knows; empty: it is this process's to write.
	Foreign string
}

// quiet is the hours that hold now, if any.
func (r Rules) quiet(now time.Time) (Hours, bool) {
	for _, h := range r.Quiet {
		if h.Hold(now) {
			return h, true
		}
	}
	return Hours{}, false
}

// within is true of a size that the target may be given.
func (r Rules) within(size uint32) bool { return size >= r.Min && size <= r.Max }

// Replica is the pool of one instance as it is now.
type Replica struct {
	// Instance is which one of the service, as the answer's sizes name it.
	Instance string
	// Size is what was just read.
	Size   pool.Size
	Writes Writes
	// Known are sizes that were in force here when this process wrote another one, in any order.
	Known []uint32
}

// Decide says what to do at a target whose pool is `replica`, at `now`.
// answer is the newest recommendation for the pool, nil when there is none.
func Decide(rules Rules, answer *poolsv1.PoolSize, replica Replica, now time.Time) Decision {
	decision := decide(rules, answer, replica, now)
	if rules.Apply {
		return decision
	}
	switch decision.Action {
	case Apply:
		decision.Text = fmt.Sprintf("recommend-only: would write %d over %s", decision.Size, replica.Size)
	case Refuse:
		decision.Text = "recommend-only: would refuse: " + decision.Text
	}
	decision.Action = Observe
	return decision
}

func decide(rules Rules, answer *poolsv1.PoolSize, replica Replica, now time.Time) Decision {
	if answer == nil {
		return hold(NoAnswer, "no recommendation for this pool")
	}
	if action := answer.GetAction(); action != commonv1.Action_ACTION_APPLY {
		return hold(Held, "the answer says %s", action)
	}
	target, current, writes := answer.GetTarget(), replica.Size, replica.Writes
	switch {
	case answer.Target == nil:
		return refuse(NoTarget, "an answer to apply without a target")
	case target == 0:
		return refuse(OutOfLimits, "a target of 0 would stop the service")
	case pool.Of(target) == current:
		return hold(InPlace, "the size is %s already", current)
	case len(answer.GetTargets()) > 0 && !slices.Contains(answer.GetTargets(), replica.Instance):
		return hold(NotItsTurn, "%d is for %s first", target, strings.Join(answer.GetTargets(), ", "))
	}
	if reason, ok := leaseOver(answer, now); ok {
		return refuse(LeaseOver, "%s", reason)
	}
	back, goal := TakesBack(answer), min(max(target, rules.Min), rules.Max)
	if goal != target && (!back || pool.Of(goal) == current) {
		return refuse(OutOfLimits, "target %d is outside the target's own limits %d..%d", target, rules.Min, rules.Max)
	}
	if rules.Stopped {
		return hold(Stopped, "the kill switch is on")
	}
	if rules.Foreign != "" {
		return hold(Foreign, "%s", rules.Foreign)
	}
	if h, ok := rules.quiet(now); ok && !back {
		return hold(Quiet, "quiet from %s UTC", h)
	}
	size, cooldown := step(rules, answer, goal, replica), rules.Cooldown
	if back {
		cooldown = min(cooldown, backWithin)
	}
	if since, wait := now.Sub(writes.At), writes.Wait(size, cooldown); wait > 0 && since < wait {
		if size == writes.Size {
			return hold(BackingOff, "wrote %d %d times and the size is %s: again after %s", size, writes.Repeats, current, wait)
		}
		return hold(CoolingDown, "the last write is less than %s ago", wait)
	}
	if !back && writes.Spent(rules.PerHour, now) {
		return hold(TooMany, "%d writes an hour are spent", rules.PerHour)
	}
	if size != target {
		return Decision{Action: Apply, Code: Step, Size: size, Text: fmt.Sprintf("write %d over %s, towards %d", size, current, target)}
	}
	return Decision{Action: Apply, Code: Differs, Size: size, Text: fmt.Sprintf("write %d over %s", size, current)}
}

// leaseOver holds at the very instant of valid_until, for an answer without a lease, and where nothing is left of it by a
// clock that only grows.
func leaseOver(answer *poolsv1.PoolSize, now time.Time) (string, bool) {
	if !answer.GetValidUntil().IsValid() {
		return "the answer has no valid lease", true
	}
	if left := answer.GetLeaseLeft(); left != nil && left.AsDuration() <= 0 {
		return "nothing is left of the lease", true
	}
	until := answer.GetValidUntil().AsTime()
	if now.Before(until) {
		return "", false
	}
	return "the lease ended at " + until.UTC().Format(time.RFC3339), true
}
