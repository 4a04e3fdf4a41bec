package subsets

import (
	"context"
	"maps"
	"slices"
)

// Realizer is where the subset of one caller is put into force.
//
// Every implementation runs the suite in subsetstest. It holds that:
//   - what is in force is read each time, never remembered or assumed; nothing in force is a Set without members;
//   - Write replaces the whole set at once: whoever looks, and every connection, sees the one before or the one after;
//   - an empty set is never written;
//   - a write that failed leaves what was there before;
//   - Remove takes away what was written, and what was there before the first write is there again; where there is nothing
//     it does nothing;
//   - all end soon after ctx does, and may be called from several goroutines.
type Realizer interface {
	// Read returns what is in force.
	Read(ctx context.Context) (Set, error)
	// Write puts a set into force.
	Write(ctx context.Context, set Set) error
	// Remove takes it away.
	Remove(ctx context.Context) error
}

// Config is the block of one kind in the configuration.
type Config interface {
	// Variables calls fill with each text that may name environment variables, and its key.
	Variables(fill func(text *string, key string))
	// Validate returns every fault, each with its key relative to the block and what is legal.
	Validate() error
	// Place is what is written: no two subsets have one.
	Place() string
	// Open returns the realizer that a valid block describes. name is the subset's in the configuration.
	Open(name string) (Realizer, error)
}

// kinds has, by the key of its block, how a block begins: with its defaults. Here is where a kind is added.
var kinds = map[string]func() Config{
	"file":     func() Config { c := DefaultFile(); return &c },
	"nftables": func() Config { c := DefaultNFTables(); return &c },
}

// Kinds are the keys of all kinds, in order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// New returns the block of a kind with its defaults; false for a kind that does not exist.
func New(kind string) (Config, bool) {
	fresh, ok := kinds[kind]
	if !ok {
		return nil, false
	}
	return fresh(), true
}
