package subsets

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"sluice.dev/actuators/internal/reconcile"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Rules are the limits of one subset.
type Rules struct {
	// Apply is the opt-in.
	Apply bool
	// Min is the least number of members that a subset may have.
	Min int
	// Within are the networks that members have to be in; empty: any.
	Within []netip.Prefix
	// Cooldown is the least time between two writes.
	Cooldown time.Duration
	// Stopped: the kill switch is on.
	Stopped bool
	// Foreign names another owner of the subset, or why the owner is not known; empty: this process may write.
	Foreign string
}

// Action is the part of a decision that a pass carries out.
type Action string

// Code is the ground of a decision.
type Code string

const (
	// Hold leaves the set in force, Write replaces it, Refuse leaves it and reports that to the recommender.
	Hold   Action = "HOLD"
	Write  Action = "APPLY"
	Refuse Action = "REFUSE"
)

const (
	NoAnswer      Code = "NO_ANSWER"
	Gone          Code = "GONE"
	Unusable      Code = "UNUSABLE"
	TooFew        Code = "TOO_FEW"
	Outside       Code = "OUTSIDE"
	InForce       Code = "IN_FORCE"
	RecommendOnly Code = "RECOMMEND_ONLY"
	Stopped       Code = "STOPPED"
	Foreign       Code = "FOREIGN"
	CoolingDown   Code = "COOLDOWN"
	Differs       Code = "DIFFERS"
)

// Decision is what to do, and why.
type Decision struct {
	Action Action
	Code   Code
	// Set is the recommended set, where the recommender's subset has one.
	Set  Set
	Text string
	// Notes name the endpoints that Set lacks, and why.
	Notes []string
}

// Writes is the history of the last write.
type Writes struct {
	At time.Time
	// Set is the last written set, and Repeats how often it was written in a row without staying in force.
	Set     Set
	Repeats int
}

// Next returns w after set was written at a time.
func (w Writes) Next(set Set, at time.Time) Writes {
	if !w.Set.Equal(set) {
		return Writes{At: at, Set: set}
	}
	return Writes{At: at, Set: set, Repeats: w.Repeats + 1}
}

// wait is how long after the last write a write of set has to wait; longer each time for a set that did not stay.
func (w Writes) wait(set Set, cooldown time.Duration) time.Duration {
	if !w.Set.Equal(set) {
		return cooldown
	}
	return reconcile.BackOff(cooldown, w.Repeats)
}

// Rest resets Repeats once the set has been in force for as long as its next write would have waited.
func (w Writes) Rest(inForce Set, cooldown time.Duration, now time.Time) Writes {
	if w.Set.Equal(inForce) && now.Sub(w.At) >= w.wait(inForce, cooldown) {
		w.Repeats = 0
	}
	return w
}

// Decide decides what to do with the recommender's subset `answer`, nil where there is none, and the set in force.
func Decide(rules Rules, answer *subsetsv1.Subset, inForce Set, writes Writes, now time.Time) Decision {
	switch {
	case answer == nil:
		return Decision{Action: Hold, Code: NoAnswer, Text: "the recommender has no subset yet: the one in force stays"}
	case answer.GetState() == subsetsv1.State_STATE_DELETED:
		return Decision{Action: Hold, Code: Gone, Text: "the recommender no longer knows the caller, or the pair: the subset in force stays"}
	}
	if rules.Foreign != "" { // its owner reports to the recommender
		return Decision{Action: Hold, Code: Foreign, Text: rules.Foreign}
	}
	set, notes, err := FromProto(answer)
	if err != nil {
		return Decision{Action: Refuse, Code: Unusable, Text: strings.Join(append(notes, err.Error()), "; ")}
	}
	decide := func(action Action, code Code, format string, args ...any) Decision {
		return Decision{action, code, set, fmt.Sprintf(format, args...), notes}
	}
	outside := slices.IndexFunc(set, func(m Member) bool {
		return len(rules.Within) > 0 && !slices.ContainsFunc(rules.Within, func(p netip.Prefix) bool { return p.Contains(m.Address.Addr()) })
	})
	left := now.Sub(writes.At)
	switch wait := writes.wait(set, rules.Cooldown); {
	case len(set) < rules.Min:
		return decide(Refuse, TooFew, "%d members: want at least %d", len(set), rules.Min)
	case outside >= 0:
		return decide(Refuse, Outside, "%s is in none of %v", set[outside].Address, rules.Within)
	case set.Equal(inForce):
		return decide(Hold, InForce, "in force")
	case !rules.Apply:
		return decide(Hold, RecommendOnly, "not opted in")
	case rules.Stopped:
		return decide(Hold, Stopped, "the kill switch is on")
	case left >= 0 && left < wait:
		return decide(Hold, CoolingDown, "waits for %s after the last write", wait)
	default:
		return decide(Write, Differs, "%s", strings.Join(inForce.Difference(set), "; "))
	}
}
