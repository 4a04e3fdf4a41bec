package subsets

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Rules are what may be done where one subset is put into force.
type Rules struct {
	// Apply is the opt-in.
	Apply bool
	// Min is how few members an answer may have.
	Min int
	// Within are the networks that members have to be of; none: any.
	Within []netip.Prefix
	// Cooldown is the least time between two writes.
	Cooldown time.Duration
	// Stopped: the kill switch is on.
	Stopped bool
	// Foreign says who else has the subset, or why nobody knows; empty: it is this process's to write.
	Foreign string
}

// Action is what to do.
type Action string

// Code is why.
type Code string

const (
	// Hold leaves what is in force, Write replaces it, Refuse leaves it and tells the recommender that it did.
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
	// Set is what the answer means, where it means any.
	Set  Set
	Text string
	// Notes are endpoints of the answer that Set is without, and why.
	Notes []string
}

// mostBackoff is the most cool-downs that a write of the same set again waits for.
const mostBackoff = 64

// Writes is what is remembered of the last one.
type Writes struct {
	At time.Time
	// Set is what was written, and Repeats how often in a row, without it being left in force.
	Set     Set
	Repeats int
}

// Next is w after set is written at a time.
func (w Writes) Next(set Set, at time.Time) Writes {
	if !w.Set.Equal(set) {
		return Writes{At: at, Set: set}
	}
	return Writes{At: at, Set: set, Repeats: w.Repeats + 1}
}

// wait is how long after the last write set has to wait: when it was not kept, longer each time.
func (w Writes) wait(set Set, cooldown time.Duration) time.Duration {
	if !w.Set.Equal(set) {
		return cooldown
	}
	return cooldown * time.Duration(min(mostBackoff, 1<<min(w.Repeats, 6)))
}

// Rest forgets repeats once the set has been in force for as long as its next write would have waited.
func (w Writes) Rest(inForce Set, cooldown time.Duration, now time.Time) Writes {
	if w.Set.Equal(inForce) && now.Sub(w.At) >= w.wait(inForce, cooldown) {
		w.Repeats = 0
	}
	return w
}

// Decide says what to do about an answer, nil where there is none, with what is in force.
func Decide(rules Rules, answer *subsetsv1.Subset, inForce Set, writes Writes, now time.Time) Decision {
	switch {
	case answer == nil:
		return Decision{Action: Hold, Code: NoAnswer, Text: "no answer yet: what is in force stays"}
	case answer.GetState() == subsetsv1.State_STATE_DELETED:
		return Decision{Action: Hold, Code: Gone, Text: "the recommender knows the caller, or the pair, no more: what is in force stays"}
	}
	if rules.Foreign != "" { // who has it tells the recommender
		return Decision{Action: Hold, Code: Foreign, Text: rules.Foreign}
	}
	set, notes, err := FromProto(answer)
	if err != nil {
		return Decision{Action: Refuse, Code: Unusable, Text: strings.Join(append(notes, err.Error()), "; ")}
	}
	say := func(action Action, code Code, format string, args ...any) Decision {
		return Decision{action, code, set, fmt.Sprintf(format, args...), notes}
	}
	outside := slices.IndexFunc(set, func(m Member) bool {
		return len(rules.Within) > 0 && !slices.ContainsFunc(rules.Within, func(p netip.Prefix) bool { return p.Contains(m.Address.Addr()) })
	})
	left := now.Sub(writes.At)
	switch wait := writes.wait(set, rules.Cooldown); {
	case len(set) < rules.Min:
		return say(Refuse, TooFew, "%d members: want %d at least", len(set), rules.Min)
	case outside >= 0:
		return say(Refuse, Outside, "%s is in none of %v", set[outside].Address, rules.Within)
	case set.Equal(inForce):
		return say(Hold, InForce, "in force")
	case !rules.Apply:
		return say(Hold, RecommendOnly, "not opted in")
	case rules.Stopped:
		return say(Hold, Stopped, "the kill switch is on")
	case left >= 0 && left < wait:
		return say(Hold, CoolingDown, "waits for %s after the last write", wait)
	default:
		return say(Write, Differs, "%s", strings.Join(inForce.Difference(set), "; "))
	}
}
