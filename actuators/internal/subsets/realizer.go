package subsets

import (
	"context"

	"sluice.dev/actuators/internal/block"
)

// Realizer is the place of one caller's subset.
//
// Every implementation runs the suite in subsetstest, which asserts:
//   - the set in force is read each time, never remembered or assumed; without one, Read returns a Set without members;
//   - Write replaces the whole set at once: every reader, and every connection, sees the old set or the new one;
//   - an empty set is never written;
//   - a write that failed leaves the old set;
//   - Remove removes what was written, and restores what was there before the first write; without a set it does nothing;
//   - all end soon after ctx does, and may be called from several goroutines.
type Realizer interface {
	// Read returns the set in force.
	Read(ctx context.Context) (Set, error)
	// Write puts a set into force.
	Write(ctx context.Context, set Set) error
	// Remove removes the set.
	Remove(ctx context.Context) error
}

// Config is the block of one kind in the configuration.
type Config interface {
	block.Block
	// Place identifies where the subset is written: no two subsets may share it.
	Place() string
	// Open returns the realizer that a valid block describes. name is the subset's name in the configuration.
	Open(name string) (Realizer, error)
}

// Kinds has all kinds. Add a new kind here.
var Kinds = block.Kinds[Config]{
	"file":     func() Config { c := DefaultFile(); return &c },
	"nftables": func() Config { c := DefaultNFTables(); return &c },
}
