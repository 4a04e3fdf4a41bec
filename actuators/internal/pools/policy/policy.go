// Package policy decides what to do at one target. It is pure: it takes the clock, the reading and the recommender's decision
// as values, and returns a Decision. In this package, answer is the recommender's newest decision for the pool.
//
// tests/contract/decisions/apply.json has its cases; the testbed's actuator passes the same.
package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Rules are one target's own limits, from the actuator's configuration.
type Rules struct {
	// Apply is the opt-in: without it a target is only observed.
	Apply bool
	// Min and Max bound the sizes that may be written, inclusive, in threads or connections of one instance. A target size
	// outside them is refused, not clamped: only the recommender chooses sizes.
	Min, Max uint32
	// MaxFactor, above 1, bounds the ratio of a written size to a size that was in force.
	MaxFactor float64
	// Cooldown is the least time between two writes. Writes.Wait has the writes that wait longer, and those that do not wait.
	Cooldown time.Duration
	// PerHour bounds the writes of an hour; 0 is no limit.
	PerHour int
	// Quiet are hours without writes.
	Quiet []Hours
	// Stopped: the kill switch is on, nothing is written.
	Stopped bool
	// Foreign names another owner of the target, or why the owner is not known; empty: this process may write.
	Foreign string
}

// quiet returns the quiet hours at now, if any.
func (r Rules) quiet(now time.Time) (Hours, bool) {
	for _, h := range r.Quiet {
		if h.Hold(now) {
			return h, true
		}
	}
	return Hours{}, false
}

// within is true for a size that the target may get.
func (r Rules) within(size uint32) bool { return size >= r.Min && size <= r.Max }

// Replica is the pool of one instance at this time.
type Replica struct {
	// Instance is the replica of the service, as the answer's sizes name it.
	Instance string
	// Size is the size that was just read.
	Size   pool.Size
	Writes Writes
	// Known are sizes that were in force here before writes of this process, in any order.
	Known []uint32
}

// Decide decides what to do at a target with the pool `replica`, at `now`. answer is nil where the recommender has no
// decision.
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
		return hold(Held, "the recommender's action is %s", action)
	}
	target, current, writes := answer.GetTarget(), replica.Size, replica.Writes
	switch {
	case answer.Target == nil:
		return refuse(NoTarget, "the recommender's action is APPLY, without a target")
	case target == 0:
		return refuse(OutOfLimits, "a target of 0 would stop the service")
	case pool.Of(target) == current:
		return hold(InPlace, "the size is already %s", current)
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
		return hold(Quiet, "quiet hours %s UTC", h)
	}
	size, cooldown := step(rules, answer, goal, replica), rules.Cooldown
	if back {
		cooldown = min(cooldown, backWithin)
	}
	if since, wait := now.Sub(writes.At), writes.Wait(size, cooldown); wait > 0 && since < wait {
		if size == writes.Size {
			return hold(BackingOff, "wrote %d %d times, but the size is %s: tries again after %s", size, writes.Repeats, current, wait)
		}
		return hold(CoolingDown, "the last write is less than %s ago", wait)
	}
	if !back && writes.Spent(rules.PerHour, now) {
		return hold(TooMany, "all %d writes of the hour are spent", rules.PerHour)
	}
	if size != target {
		return Decision{Action: Apply, Code: Step, Size: size, Text: fmt.Sprintf("write %d over %s, towards %d", size, current, target)}
	}
	return Decision{Action: Apply, Code: Differs, Size: size, Text: fmt.Sprintf("write %d over %s", size, current)}
}

// leaseOver is true from valid_until on, for an answer without a lease, and where nothing is left of the lease by a monotonic
// clock. It also returns the reason.
func leaseOver(answer *poolsv1.PoolSize, now time.Time) (string, bool) {
	if !answer.GetValidUntil().IsValid() {
		return "the decision has no valid lease", true
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
