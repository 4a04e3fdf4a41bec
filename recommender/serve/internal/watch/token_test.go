package watch

import (
	"slices"
	"testing"
	"time"

	"sluice.dev/serve/internal/table"
)

func TestATokenIsReadAsItWasGiven(t *testing.T) {
	for _, offsets := range [][]int64{{0}, {1, 1 << 40}, make([]int64, 256)} {
		token := Token{Topic: table.Topic{1, 2, 15: 3}, At: time.UnixMilli(1_800_000_000_123), Filter: 1 << 63, Offsets: offsets}
		got, err := ParseToken(token.String())
		if err != nil || got.Topic != token.Topic || !got.At.Equal(token.At) || got.Filter != token.Filter || !slices.Equal(got.Offsets, offsets) {
			t.Errorf("%v: %v, %v", token, got, err)
		}
	}
	far := make([]int64, 256)
	for i := range far {
		far[i] = 1 << 62
	}
	if n := len(Token{Offsets: far}.String()); n > MostToken {
		t.Errorf("256 shards far on take %d bytes, legal are %d", n, MostToken)
	}
}

// Any text of a caller is read as it was given, or refused.
func FuzzParseToken(f *testing.F) {
	f.Add("")
	f.Add("0123456789ab.17")
	f.Add(Token{Offsets: []int64{1, 2, 3}}.String())
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err == nil && token != nil && len(token.Offsets) > MostToken {
			t.Error(len(token.Offsets), "shards")
		}
	})
}
