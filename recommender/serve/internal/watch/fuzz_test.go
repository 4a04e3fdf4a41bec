package watch

import (
	"testing"
	"time"

	"sluice.dev/serve/internal/table"
)

// FuzzToken: a token that is read is written as the same text, so that no two tokens are one position.
func FuzzToken(f *testing.F) {
	f.Add("")
	f.Add("AAAA")
	f.Add(Token{Topic: table.Topic{1, 2, 3}, At: time.UnixMilli(1), Filter: 7, Offsets: []int64{0, 1 << 40}}.String())
	f.Add(Token{At: time.UnixMilli(-1)}.String())
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err != nil || token == nil {
			return
		}
		again, err := ParseToken(token.String())
		if err != nil || again.String() != token.String() || len(again.Offsets) != len(token.Offsets) {
			t.Errorf("%q is %v, and again %v: %v", text, token, again, err)
		}
	})
}
