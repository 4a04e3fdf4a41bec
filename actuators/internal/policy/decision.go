package policy

import "fmt"

// Action is what the loop is to do.
type Action string

const (
	// Observe: the target did not opt in; read and report, never write.
	Observe Action = "observe"
	// Apply: write Size, read it back.
	Apply Action = "apply"
	// Hold: nothing to write now, and nothing is wrong.
	Hold Action = "hold"
	// Refuse: the answer must not be written; the recommender is told (NACK).
	Refuse Action = "refuse"
)

// Code is the stable, machine-readable ground of a decision.
type Code string

const (
	// Differs: the target and the size in place are not the same.
	Differs Code = "differs"
	// Step: as Differs, and the target is further away than one write may go.
	Step Code = "step"
	// InPlace: the size in place is the target.
	InPlace Code = "in_place"
	// NotItsTurn: the target is for other instances first.
	NotItsTurn Code = "not_its_turn"
	// NoAnswer: the recommender does not know the pool, or was never reached.
	NoAnswer Code = "no_answer"
	// Held: the answer does not say that it is to be applied.
	Held Code = "held"
	// NoTarget: the answer says that it is to be applied, and has no target.
	NoTarget Code = "no_target"
	// LeaseOver: the answer is older than its lease, as it is once the recommender is lost.
	LeaseOver Code = "lease_over"
	// OutOfLimits: 0, or outside the target's own min and max.
	OutOfLimits Code = "out_of_limits"
	// CoolingDown: another size was written a moment ago.
	CoolingDown Code = "cooling_down"
	// Stopped: the kill switch is on.
	Stopped Code = "stopped"
	// Foreign: another actuator has the target, or nobody can say whether one has.
	Foreign Code = "foreign"
	// Quiet: it is one of the target's quiet hours.
	Quiet Code = "quiet_hours"
	// TooMany: the target's writes of an hour are spent.
	TooMany Code = "too_many"
	// NoIntent: what is going to be written could not be stored, so it is not written.
	NoIntent Code = "no_intent"
	// Resolved: a write that a process before this one left was ended.
	Resolved Code = "resolved"
	// BackingOff: this very size was written before and is not in place.
	BackingOff Code = "backing_off"
)

// Decision is what Decide answers.
type Decision struct {
	Action Action
	Code   Code
	// Size is what to write, or, for Observe with code Differs or Step, what would be written; otherwise 0.
	Size uint32
	// Text is for people.
	Text string
}

func hold(code Code, format string, args ...any) Decision {
	return Decision{Action: Hold, Code: code, Text: fmt.Sprintf(format, args...)}
}

func refuse(code Code, format string, args ...any) Decision {
	return Decision{Action: Refuse, Code: code, Text: fmt.Sprintf(format, args...)}
}
