package policy

import (
	"math"

	poolsv1 "sluice.dev/api/pools/v1"
)

// step returns the size of one write towards target: by a factor of at most MaxFactor, and by at least 1, from the nearest
// size that was in force (see nearest).
//
//	up    max(floor(from * factor), from + 1)
//	down  min(ceil(from / factor), from - 1)
//
// With a factor of 2: 128 -> 12 goes by 64, 32, 16; 1 -> 12 by 2, 4, 8. Limits come first: a pool that somebody set beyond
// them is brought back within them at once. A pool without a limit gets the target in one write, because no step from there
// is better than another.
func step(rules Rules, answer *poolsv1.PoolSize, target uint32, replica Replica) uint32 {
	if replica.Size.Unbounded {
		return target
	}
	from := float64(nearest(rules, answer, target, replica))
	up := max(math.Floor(from*rules.MaxFactor), from+1)
	down := min(math.Ceil(from/rules.MaxFactor), from-1)
	size := min(max(float64(target), down), up)
	return uint32(min(max(size, float64(rules.Min)), float64(rules.Max)))
}

// nearest returns the one of these sizes whose ratio to the target is nearest to 1; of equals the first:
//
//	the size read
//	the last size that this process wrote here and that was read back
//	the sizes read of the pool's other instances, ordered by instance
//	where the answer takes a change back, the sizes that were in force here before earlier writes
//
// So a size that somebody else set, or with which a replica starts, does not lengthen the way. One write leads back to a size
// that was in force here or is in force elsewhere. Sizes outside the target's limits, and pools without a limit, do not
// count.
func nearest(rules Rules, answer *poolsv1.PoolSize, target uint32, replica Replica) uint32 {
	best := replica.Size.Limit
	consider := func(size uint32) {
		if rules.within(size) && nearer(size, best, target) {
			best = size
		}
	}
	consider(replica.Writes.Kept)
	for _, other := range answer.GetSizes() {
		if !other.GetUnbounded() && other.GetInstance() != replica.Instance {
			consider(other.GetSize())
		}
	}
	if TakesBack(answer) {
		for _, size := range replica.Known {
			consider(size)
		}
	}
	return best
}

// nearer compares the ratios of a and b to target, the larger number over the smaller, in whole numbers; 0 is never nearer.
func nearer(a, b, target uint32) bool {
	if a == 0 {
		return false
	}
	return uint64(max(a, target))*uint64(min(b, target)) < uint64(max(b, target))*uint64(min(a, target))
}
