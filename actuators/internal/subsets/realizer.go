package subsets

import (
	"context"
	"maps"
	"slices"
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
	// Variables calls fill for each text that may name environment variables, with its key.
	Variables(fill func(text *string, key string))
	// Validate returns every fault, each with its key relative to the block and the legal values.
	Validate() error
	// Place identifies where the subset is written: no two subsets may share it.
	Place() string
	// Open returns the realizer that a valid block describes. name is the subset's name in the configuration.
	Open(name string) (Realizer, error)
}

// kinds makes a block with its defaults, by the key of the block. Add a new kind here.
var kinds = map[string]func() Config{
	"file":     func() Config { c := DefaultFile(); return &c },
	"nftables": func() Config { c := DefaultNFTables(); return &c },
}

// Kinds returns the keys of all kinds, in order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// New returns a block of the kind with its defaults; false for an unknown kind.
func New(kind string) (Config, bool) {
	fresh, ok := kinds[kind]
	if !ok {
		return nil, false
	}
	return fresh(), true
}
