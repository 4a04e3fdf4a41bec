package reconcile

// Outcome is the result of one pass over a target. Every product, the state on the disk, the status page and the metrics have
// these names; each product maps them to its own API in one place.
type Outcome string

const (
	// Observed: the value in force was read, and nothing was written.
	Observed Outcome = "OBSERVED"
	// Applied: the written value is in force.
	Applied Outcome = "APPLIED"
	// Reverted: a process ended during the write; the previous value is in force.
	Reverted Outcome = "REVERTED"
	// Failed: the write was made, and neither of both is known to be in force.
	Failed Outcome = "FAILED"
	// Refused: the recommender's decision must not be written.
	Refused Outcome = "REFUSED"
)
