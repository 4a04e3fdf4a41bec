package watch

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"time"

	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
)

// Token is a watcher's position in the journal, which every server reads.
type Token struct {
	Topic table.Topic
	// At is when the token was made, to a millisecond.
	At     time.Time
	Filter uint64
	// Offsets of each shard: everything before them was sent.
	Offsets []int64
}

const (
	tokenVersion = 1
	// MostToken bounds a token, in bytes; 4 kB are about 400 shards.
	MostToken = 4096
	legal     = "the token of a received message, or empty"
)

// String is the opaque token that watchers keep. Its check sum detects accidental changes.
func (t Token) String() string {
	b := make([]byte, 0, 64+10*len(t.Offsets))
	b = append(b, tokenVersion)
	b = append(b, t.Topic[:]...)
	b = binary.AppendVarint(b, t.At.UnixMilli())
	b = binary.BigEndian.AppendUint64(b, t.Filter)
	b = binary.AppendUvarint(b, uint64(len(t.Offsets)))
	for _, offset := range t.Offsets {
		b = binary.AppendUvarint(b, uint64(offset))
	}
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseToken is the inverse of String; nil for an empty one.
func ParseToken(text string) (*Token, error) {
	if text == "" {
		return nil, nil
	}
	bad := problem.NotLegal("resume_token", text, legal)
	if len(text) > MostToken {
		return nil, bad
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 1+16+1+8+1+4 || b[0] != tokenVersion {
		return nil, bad
	}
	b, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(b) != sum {
		return nil, bad
	}
	t := &Token{Topic: table.Topic(b[1:17])}
	b = b[17:]
	ms, n := binary.Varint(b)
	if n <= 0 || len(b[n:]) < 8 {
		return nil, bad
	}
	t.At, t.Filter, b = time.UnixMilli(ms), binary.BigEndian.Uint64(b[n:]), b[n+8:]
	count, n := binary.Uvarint(b)
	if n <= 0 || count > uint64(len(b)) {
		return nil, bad
	}
	b = b[n:]
	t.Offsets = make([]int64, count)
	for i := range t.Offsets {
		offset, n := binary.Uvarint(b)
		if n <= 0 || offset > 1<<62 {
			return nil, bad
		}
		t.Offsets[i], b = int64(offset), b[n:]
	}
	if len(b) > 0 {
		return nil, bad
	}
	return t, nil
}

// resumption is the reason why a watcher at the token cannot resume under the filter; UNSPECIFIED if it can. Only the journal
// can tell whether the token is past the end, or ahead of this server.
func (t *Token) resumption(topic table.Topic, shards int, filter uint64, remembered time.Duration, now time.Time) commonv1.Resumption {
	switch {
	case t == nil:
		return commonv1.Resumption_RESUMPTION_NO_TOKEN
	case t.Topic != topic || len(t.Offsets) != shards:
		return commonv1.Resumption_RESUMPTION_OTHER_LOG
	case t.Filter != filter:
		return commonv1.Resumption_RESUMPTION_OTHER_FILTER
	case now.Sub(t.At) > remembered:
		return commonv1.Resumption_RESUMPTION_TOO_OLD
	}
	return commonv1.Resumption_RESUMPTION_UNSPECIFIED
}

// ahead is true if the token's position is after the view's.
func ahead[K table.Key[K], V any](t *Token, view *table.View[K, V]) bool {
	for i, offset := range t.Offsets {
		if offset > view.Shards[i].Position {
			return true
		}
	}
	return false
}
