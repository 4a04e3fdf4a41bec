package table

import (
	"cmp"
	"maps"
	"slices"
)

func sortedByOffset[K Key[K], V any](entries map[K]*Entry[K, V]) []*Entry[K, V] {
	return slices.SortedFunc(maps.Values(entries), func(a, b *Entry[K, V]) int { return cmp.Compare(a.Offset, b.Offset) })
}

// compact removes entries that are no longer the newest. Removals stay as long as the process runs.
func (t *Table[K, V]) compact(shard *Shard[K, V]) {
	newest := make([]*Entry[K, V], 0, len(shard.order))
	for _, e := range shard.order {
		if e.Newest(shard.Position) {
			newest = append(newest, e)
		}
	}
	shard.order, shard.live = newest, len(newest)
}
