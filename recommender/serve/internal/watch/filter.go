// Package watch tells watchers the state, then what changes.
package watch

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"sluice.dev/serve/internal/table"
)

// Filter is what a watcher wants to hear of.
type Filter[K table.Key[K]] struct {
	// ID tells filters apart, also those of different kinds; 0 is that of all pools.
	ID uint64
	// whole are groups of which all is wanted, and those single keys besides. Where there are none, takes may still leave
	// some out.
	whole []string
	those []K
	// groups are those of both.
	groups []string
	// takes tells whether a key is wanted; nil: each is.
	takes func(K) bool
}

// All tells whether every key is wanted.
func (f *Filter[K]) All() bool { return f.takes == nil }

// Takes tells whether a key is wanted.
func (f *Filter[K]) Takes(key K) bool { return f.takes == nil || f.takes(key) }

// since calls take with what was written to a shard at offset or later, and perhaps others that the filter does not take.
func since[K table.Key[K], V any](f *Filter[K], shard *table.Shard[K, V], offset int64, take func(*table.Entry[K, V]) bool) {
	if len(f.groups) == 0 {
		shard.Since(offset, take)
	} else {
		shard.SinceOf(f.groups, offset, take)
	}
}

// id is that of a filter which is described by lines; never that of all pools.
func id(lines ...string) uint64 {
	sum := sha256.New()
	for _, line := range lines {
		fmt.Fprintf(sum, "%s\n", line)
	}
	return max(1, binary.BigEndian.Uint64(sum.Sum(nil)))
}
