// Package watch sends watchers the state, then the changes.
package watch

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"sluice.dev/serve/internal/table"
)

// Filter selects the records of a watch.
type Filter[K table.Key[K]] struct {
	// ID tells filters apart, also those of different kinds; 0 is the filter of all pools.
	ID uint64
	// fullGroups are the groups with all of their keys, singles further keys. If both are empty, selects may still leave keys out.
	fullGroups []string
	singles    []K
	// groups are the groups of both.
	groups []string
	// selects is true for a selected key; nil selects all.
	selects func(K) bool
}

// All is true if the filter selects every key.
func (f *Filter[K]) All() bool { return f.selects == nil }

// Selects is true for a selected key.
func (f *Filter[K]) Selects(key K) bool { return f.selects == nil || f.selects(key) }

// since calls take with the entries written to a shard at offset or later. Some may be entries that the filter does not select.
func since[K table.Key[K], V any](f *Filter[K], shard *table.Shard[K, V], offset int64, take func(*table.Entry[K, V]) bool) {
	if len(f.groups) == 0 {
		shard.Since(offset, take)
	} else {
		shard.SinceOf(f.groups, offset, take)
	}
}

// id is the ID of a filter that lines describe; never that of all pools.
func id(lines ...string) uint64 {
	sum := sha256.New()
	for _, line := range lines {
		fmt.Fprintf(sum, "%s\n", line)
	}
	return max(1, binary.BigEndian.Uint64(sum.Sum(nil)))
}
