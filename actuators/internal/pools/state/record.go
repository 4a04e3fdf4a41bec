// Package state keeps what outlives the process: for each target the write under way, the size before the first write, and
// what its next write has to wait for.
package state

import (
	"time"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/reconcile"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Record is the state of one target.
type Record struct {
	// Original is the size before the first write; nil when nothing was written since it was restored.
	Original *pool.Size    `json:"original,omitempty"`
	Writes   policy.Writes `json:"writes"`
	// InForce are the sizes that were in force here before writes, the newest first: a harmful size is taken back to one of
	// them.
	InForce []uint32 `json:"in_force,omitempty"`
	// Intent is a write that was begun and whose end is not known; nil when there is none.
	Intent *Intent `json:"intent,omitempty"`
	// Ended are writes whose report was not taken yet, the oldest first.
	Ended []Ended `json:"ended,omitempty"`
}

// Intent is a write to be made.
type Intent struct {
	// ID is the report's: sent again under it, a report is the same.
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	Size     uint32    `json:"size"`
	Previous pool.Size `json:"previous"`
	Revision uint64    `json:"revision"`
	// Restore: the write restores the original size, so that the record has none afterwards.
	Restore bool `json:"restore,omitempty"`
}

// Ended is the end of an intent.
type Ended struct {
	Intent
	// Outcome is APPLIED, REVERTED or FAILED.
	Outcome  reconcile.Outcome `json:"outcome"`
	ReadBack pool.Size         `json:"read_back"`
	Detail   string            `json:"detail"`
	Done     time.Time         `json:"done"`
}

// maxInForce bounds InForce: a look of the recommender changes a size twice, so it covers the last 8 looks at least.
const maxInForce = 16

// Leave returns r before the size in force is replaced.
func (r Record) Leave(size pool.Size) Record {
	if size.Limit == 0 {
		return r
	}
	left := []uint32{size.Limit}
	for _, earlier := range r.InForce {
		if earlier != size.Limit && len(left) < maxInForce {
			left = append(left, earlier)
		}
	}
	r.InForce = left
	return r
}

// Known returns InForce and the original size, which is the operator's.
func (r Record) Known() []uint32 {
	if r.Original == nil || r.Original.Limit == 0 {
		return r.InForce
	}
	return append([]uint32{r.Original.Limit}, r.InForce...)
}

// maxEnded bounds the queued reports of one target: without a recommender leases end, and with them writes.
const maxEnded = 64

// End returns r after its intent ended; beyond maxEnded it drops the oldest end.
func (r Record) End(ended Ended) Record {
	r.Ended = append(append([]Ended(nil), r.Ended...), ended)
	if len(r.Ended) > maxEnded {
		r.Ended = r.Ended[1:]
	}
	if ended.Restore && ended.Outcome == reconcile.Applied {
		r.Original = nil
	}
	r.Intent = nil
	return r
}

// Wire is the end as the API has it: an end that is not APPLIED is a NACK there, with the size that was read.
func (e Ended) Wire() *poolsv1.Actuation {
	return &poolsv1.Actuation{
		Outcome: pool.ProtoOutcome(e.Outcome), Requested: &e.Size, Previous: e.Previous.Wire(), ReadBack: e.ReadBack.Wire(),
		Unbounded: e.ReadBack.Unbounded, Detail: e.Detail,
	}
}

// Reported returns r without the end whose report, of that id, the recommender took.
func (r Record) Reported(id string) Record {
	var left []Ended
	for _, ended := range r.Ended {
		if ended.ID != id {
			left = append(left, ended)
		}
	}
	r.Ended = left
	return r
}
