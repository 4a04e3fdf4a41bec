package pool

import (
	"fmt"
	"math"
)

// Use is the occupancy of a pool, as its target reports it with the size. The zero value has no figures, which is not 0.
type Use struct {
	// Busy is how many threads or connections are in use; nil where the target does not report it.
	Busy *uint32
	// Waiting is how many callers wait for one; nil where the target does not report it.
	Waiting *uint32
}

// Count converts a reported number: nil for a number outside 0..2^32-1, as -1 is where a target has no such count.
func Count(reported int64) *uint32 {
	if reported < 0 || reported > math.MaxUint32 {
		return nil
	}
	n := uint32(reported)
	return &n
}

// Fills is true when the whole pool of this size is in use. A pool without a limit is never full.
func (u Use) Fills(size Size) bool {
	return u.Busy != nil && size.Limit > 0 && *u.Busy >= size.Limit
}

// String is for people and logs: "32 busy, 5 waiting"; empty without figures.
func (u Use) String() string {
	switch {
	case u.Busy == nil:
		return ""
	case u.Waiting == nil:
		return fmt.Sprintf("%d busy", *u.Busy)
	}
	return fmt.Sprintf("%d busy, %d waiting", *u.Busy, *u.Waiting)
}
