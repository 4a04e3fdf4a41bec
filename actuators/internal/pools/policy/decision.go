package policy

import "fmt"

// Action is the part of a decision that a pass carries out.
type Action string

const (
	// Observe: the target did not opt in; read and report, never write.
	Observe Action = "observe"
	// Apply: write Size, read it back.
	Apply Action = "apply"
	// Hold: write nothing now; nothing is wrong.
	Hold Action = "hold"
	// Refuse: the recommender's decision must not be written; a NACK is reported.
	Refuse Action = "refuse"
)

// Code is the stable, machine-readable ground of a decision.
type Code string

const (
	// Differs: the target size and the size in force differ.
	Differs Code = "differs"
	// Step: as Differs, and the target size is further away than one write may go.
	Step Code = "step"
	// InPlace: the size in force is the target size.
	InPlace Code = "in_place"
	// NotItsTurn: the target size is for other instances first.
	NotItsTurn Code = "not_its_turn"
	// NoAnswer: the recommender does not know the pool, or was never reached.
	NoAnswer Code = "no_answer"
	// Held: the recommender's action is not APPLY.
	Held Code = "held"
	// NoTarget: the recommender's action is APPLY, and its target size is absent.
	NoTarget Code = "no_target"
	// LeaseOver: the lease of the recommender's decision is over, as it is once the recommender is lost.
	LeaseOver Code = "lease_over"
	// OutOfLimits: the target size is 0, or outside the target's own min and max.
	OutOfLimits Code = "out_of_limits"
	// CoolingDown: another size was written a moment ago.
	CoolingDown Code = "cooling_down"
	// Stopped: the kill switch is on.
	Stopped Code = "stopped"
	// Foreign: another actuator owns the target, or its owner is not known.
	Foreign Code = "foreign"
	// Quiet: it is one of the target's quiet hours.
	Quiet Code = "quiet_hours"
	// TooMany: the target's writes of an hour are spent.
	TooMany Code = "too_many"
	// NoIntent: the intent of the write could not be stored, so the write is not made.
	NoIntent Code = "no_intent"
	// Resolved: a write that an earlier process left was ended.
	Resolved Code = "resolved"
	// BackingOff: this same size was written before and is not in force.
	BackingOff Code = "backing_off"
)

// Decision is the result of Decide.
type Decision struct {
	Action Action
	Code   Code
	// Size is the size to write, or, for Observe with code Differs or Step, the size that would be written; otherwise 0.
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
