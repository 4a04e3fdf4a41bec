package watch

import (
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
)

// Frame is an encoded message of a watch, shared by all who are sent it: nothing is made for each.
type Frame struct{ Bytes mem.BufferSlice }

// Words are how watchers of one kind of answers are told of them.
type Words[K table.Key[K], V any] struct {
	answer   func(e *table.Entry[K, V], lease *table.Lease) *Frame
	snapshot func(of *commonv1.Snapshot, token string) *Frame
	// heartbeat confirms the answers of shards.
	heartbeat func(shards []*table.Shard[K, V], filter *Filter[K], token string, now time.Time) *Frame
}

func encode(event proto.Message) *Frame {
	b, err := proto.Marshal(event)
	if err != nil {
		panic(err) // only a string that is no UTF-8 can be at fault, and none was decoded
	}
	return &Frame{mem.BufferSlice{mem.SliceBuffer(b)}}
}
