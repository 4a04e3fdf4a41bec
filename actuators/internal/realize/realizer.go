// Package realize reads and writes pool sizes at targets: one Realizer a kind of target, one file each.
package realize

import (
	"context"

	"sluice.dev/actuators/internal/pool"
)

// Realizer is one pool of one instance.
//
// Every implementation runs the suite in realizetest. It holds that:
//   - a size is read from the target each time, never remembered or assumed;
//   - a size is at least 1: a target that says 0, or nothing, is an error, not a size, unless it is known to mean that
//     the pool has no limit, which is told as pool.Unbounded;
//   - Write returns once the target took the request; the new size may show in Read only later, or never;
//   - both end soon after ctx does, and may be called from several goroutines.
type Realizer interface {
	// Read returns the size in force, in threads or connections.
	Read(ctx context.Context) (pool.Size, error)
	// Write asks for size, at least 1.
	Write(ctx context.Context, size uint32) error
}
