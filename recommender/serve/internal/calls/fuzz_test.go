package calls

import (
	"testing"

	"sluice.dev/serve/internal/keys"
)

// FuzzPages: a token of a page that is read is the one that is written for its position.
func FuzzPages(f *testing.F) {
	f.Add("", "")
	f.Add(pageToken("pool/cart/server/", "cart"), "cart")
	f.Add(pageToken("pool/%zz/server/", "a\nb"), "a\nb")
	f.Add(beforeToken(1<<63), "")
	f.Fuzz(func(t *testing.T, token, filter string) {
		if key, err := parsePage(token, filter, keys.ParsePool); err == nil && token != "" && !key.Legal() {
			t.Errorf("%q under %q is after %v", token, filter, key)
		}
		if before, err := parseBefore(token); err == nil && token != "" && beforeToken(before) != token {
			t.Errorf("%q is before %d", token, before)
		}
	})
}
