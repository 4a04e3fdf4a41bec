package pool

import (
	"fmt"
	"math"
)

// Use is how much of a pool is in use, as its target tells with the size. The zero value tells nothing, which is not 0.
type Use struct {
	// Busy is how many threads or connections are in use; nil where the target does not tell.
	Busy *uint32
	// Waiting is how many callers wait for one; nil where the target does not tell.
	Waiting *uint32
}

// Count is a number that a target told, nil for one that is none, as -1 is where a target has no such count.
func Count(told int64) *uint32 {
	if told < 0 || told > math.MaxUint32 {
		return nil
	}
	n := uint32(told)
	return &n
}

// Fills tells that all that there is of a pool of the size is in use. Without a limit it never is.
func (u Use) Fills(size Size) bool {
	return u.Busy != nil && size.Limit > 0 && *u.Busy >= size.Limit
}

// String is for people and logs: "32 busy, 5 waiting"; empty where nothing was told.
func (u Use) String() string {
	switch {
	case u.Busy == nil:
		return ""
	case u.Waiting == nil:
		return fmt.Sprintf("%d busy", *u.Busy)
	}
	return fmt.Sprintf("%d busy, %d waiting", *u.Busy, *u.Waiting)
}
