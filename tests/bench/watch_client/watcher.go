package main

import (
	"encoding/binary"
	"sync/atomic"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of WatchPoolSizesRequest and WatchPoolSizesResponse.
const (
	askService, askToken                = 1, 2
	toldAnswer, toldSnapshot, toldToken = 1, 2, 4
	prefix                              = 5 // bytes before a message: whether it is compressed, and its length
)

// watcher is one watch.
type watcher struct {
	token   string
	partial []byte
	phase   atomic.Pointer[phase]
	// at is when the first answer of the phase was there, by CLOCK_MONOTONIC; whole: everything was sent.
	at    int64
	whole bool
}

func (w *watcher) request() []byte {
	message := protowire.AppendString(protowire.AppendTag(nil, askService, protowire.BytesType), "cart")
	if w.token != "" {
		message = protowire.AppendString(protowire.AppendTag(message, askToken, protowire.BytesType), w.token)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// take takes bytes of the stream: whole messages, or parts of them.
func (w *watcher) take(data []byte) {
	if len(w.partial) > 0 {
		data = append(w.partial, data...)
	}
	for len(data) >= prefix {
		end := prefix + int(binary.BigEndian.Uint32(data[1:]))
		if len(data) < end {
			break
		}
		w.event(data[prefix:end])
		data = data[end:]
	}
	w.partial = append(w.partial[:0], data...)
}

func (w *watcher) event(message []byte) {
	p := w.phase.Load()
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			check(protowire.ParseError(n))
		}
		value := message[n:]
		if n = protowire.ConsumeFieldValue(number, kind, value); n < 0 {
			check(protowire.ParseError(n))
		}
		switch number {
		case toldAnswer:
			if p != nil && w.at == 0 {
				w.at = monotonic()
			}
		case toldSnapshot:
			w.whole = p != nil
		case toldToken:
			token, _ := protowire.ConsumeBytes(value)
			w.token = string(token)
			if p != nil {
				p.end(w)
			}
		}
		message = value[n:]
	}
}

func monotonic() int64 {
	var now unix.Timespec
	check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
	return now.Nano()
}
