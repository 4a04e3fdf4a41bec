package table

import (
	"cmp"
	"maps"
	"slices"

	"sluice.dev/serve/internal/keys"
)

func byOffset(entries map[keys.Pool]*Entry) []*Entry {
	return slices.SortedFunc(maps.Values(entries), func(a, b *Entry) int { return cmp.Compare(a.Offset, b.Offset) })
}

// compact leaves out what is no longer the newest. Removals stay, as long as the process lasts.
func (t *Table) compact(shard *Shard) {
	kept := make([]*Entry, 0, len(shard.order))
	for _, e := range shard.order {
		if e.Newest(shard.Position) {
			kept = append(kept, e)
		}
	}
	shard.order, shard.live = kept, len(kept)
}
