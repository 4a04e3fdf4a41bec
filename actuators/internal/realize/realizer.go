// Package realize reads and writes pool sizes at targets: one Realizer a kind of target, one file each.
package realize

import (
	"context"
	"slices"
	"time"

	"sluice.dev/actuators/internal/pool"
	"sluice.dev/actuators/internal/settle"
)

// Realizer is one pool of one instance.
//
// Every implementation runs the suite in realizetest. It holds that:
//   - a size is read from the target each time, never remembered or assumed;
//   - a size is what is in force: where the target tells its limit and how many threads or connections there are, the
//     larger of both, since a limit below what there is does not hold yet;
//   - a size is at least 1: a target that says 0, or nothing, is an error, not a size, unless it is known to mean that
//     the pool has no limit, which is told as pool.Unbounded;
//   - Write returns once the target took the request, an error where it says that it did not; the new size may show in
//     Read only later, or never;
//   - both end soon after ctx does, and may be called from several goroutines.
type Realizer interface {
	// Read returns the size in force, in threads or connections.
	Read(ctx context.Context) (pool.Size, error)
	// Write asks for size, at least 1.
	Write(ctx context.Context, size uint32) error
}

// Telling is a realizer whose target tells, in the answer that has its size, how much of the pool is in use.
type Telling interface {
	// ReadUse is Read, and what the target tells of use: what is not a whole number from 0 is not told, and no error.
	ReadUse(ctx context.Context) (pool.Size, pool.Use, error)
}

// Look reads the size in force, and what is in use where the target tells it.
func Look(ctx context.Context, r Realizer) (pool.Size, pool.Use, error) {
	if telling, ok := r.(Telling); ok {
		return telling.ReadUse(ctx)
	}
	size, err := r.Read(ctx)
	return size, pool.Use{}, err
}

// ReadBack reads until the size in force is `want` or `within` is over, and returns what it read last: pools shrink as
// threads go idle, so the first reading may still be the old size. It ends too when `enough` says so.
func ReadBack(ctx context.Context, r Realizer, want uint32, within time.Duration, enough ...func() bool) (got pool.Size, err error) {
	settle.Until(ctx, within, func() bool {
		got, err = r.Read(ctx)
		if err == nil && got == pool.Of(want) {
			return true
		}
		return slices.ContainsFunc(enough, func(each func() bool) bool { return each() })
	})
	return got, err
}
