package pool

import "strconv"

// Size is the size of a pool as read: a limit in threads or connections, or none.
type Size struct {
	// Limit is at least 1; 0 where the pool is unbounded, or where nothing was read.
	Limit uint32
	// Unbounded: the pool has no limit. It is not a size of 0.
	Unbounded bool
}

// Unbounded is the size of a pool that has no limit.
var Unbounded = Size{Unbounded: true}

// Of is the size of a pool with a limit.
func Of(limit uint32) Size { return Size{Limit: limit} }

// Wire is the limit as the API has it: nil where there is none.
func (s Size) Wire() *uint32 {
	if s.Limit == 0 {
		return nil
	}
	return &s.Limit
}

// String is for people and logs.
func (s Size) String() string {
	if s.Unbounded {
		return "unbounded"
	}
	return strconv.FormatUint(uint64(s.Limit), 10)
}
