// Package realize reads and writes pool sizes at targets. Each kind of target has a Realizer in a file of its own.
package realize

import (
	"context"

	"sluice.dev/actuators/internal/pools/pool"
)

// Realizer is one pool of one instance.
//
// Every implementation runs the suite in realizetest, which asserts:
//   - a size is read from the target each time, never remembered or assumed;
//   - a size is the size in force: where the target reports its limit and its number of threads or connections, the larger
//     of both, since a limit below that number is not in force yet;
//   - a size is at least 1: a target that reports 0, or nothing, is an error, not a size, unless that value is known to
//     mean no limit, which is pool.Unbounded;
//   - Write returns once the target took the request, with an error where the target reports that it did not; the new size
//     may show in Read only later, or never;
//   - both end soon after ctx does, and may be called from several goroutines.
type Realizer interface {
	// Read returns the size in force, in threads or connections, and the occupancy where the target reports it in the same
	// response. A figure of it that is not a whole number from 0 is absent, and no error.
	Read(ctx context.Context) (pool.Size, pool.Use, error)
	// Write requests size, at least 1.
	Write(ctx context.Context, size uint32) error
}
