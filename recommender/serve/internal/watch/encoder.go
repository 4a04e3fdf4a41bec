package watch

import (
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
)

// Frame is an encoded message of a watch, shared by all its watchers.
type Frame struct{ Bytes mem.BufferSlice }

// Encoder encodes the events of watches of one kind.
type Encoder[K table.Key[K], V any] struct {
	publication func(e *table.Entry[K, V], lease *table.Lease) *Frame
	snapshot    func(message *commonv1.Snapshot, token string) *Frame
	// heartbeat renews the leases of decisions of shards.
	heartbeat func(shards []*table.Shard[K, V], filter *Filter[K], token string, now time.Time) *Frame
}

func encode(event proto.Message) *Frame {
	b, err := proto.Marshal(event)
	if err != nil {
		panic(err) // only a string outside UTF-8 can fail, and decoding lets none in
	}
	return &Frame{mem.BufferSlice{mem.SliceBuffer(b)}}
}
