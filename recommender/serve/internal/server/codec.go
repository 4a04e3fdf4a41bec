// Package server serves the services on an address: limits, health, reflection, metrics.
package server

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/watch"
)

// codec is protobuf's codec, except for frames, which are already encoded: every watcher gets the same bytes.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if frame, ok := v.(*watch.Frame); ok {
		return frame.Bytes, nil
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if request, ok := v.(*problem.Request); ok {
		request.Decode(c.CodecV2, data)
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}
