package redact_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sluice.dev/actuators/internal/redact"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"nothing to hide": "nothing to hide",
		`Get "http://ops:s3cret@pool:80/size": connection refused`:   `Get "http://pool:80/size": connection refused`,
		"GET http://pool/size?token=abc&x=1: status 403":             "GET http://pool/size?... status 403",
		`"http://pool/size?token=abc": want http://HOST`:             `"http://pool/size?...": want http://HOST`,
		"http://ops:p@ss@pool/size, then https://u@b/#access=xyz":    "http://pool/size, then https://b/?...",
		"http://ops:p/ss@pool/size":                                  "http://pool/size",
		"bolt://neo4j:pw@graph:7687 and kafka://k:w@broker":          "bolt://graph:7687 and kafka://broker",
		`parse "http://ops:s3cret@pool:port/": invalid port ":port"`: `parse "http://pool:port/": invalid port ":port"`,
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
}

// A client sends user and password of a URL as base64 (RFC 7617), and a server may repeat its request's headers.
func TestErrorHidesAURLsCredentialsAsTheyAreSent(t *testing.T) {
	err := redact.Of(nil, "http://ann:secret@pool/size").Error(errors.New("status 401: Authorization: Basic YW5uOnNlY3JldA=="))
	if want := "status 401: Authorization: Basic ..."; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestErrorHidesWhatAServerRepeats(t *testing.T) {
	secrets := redact.Of(map[string]string{"Authorization": "Bearer t0ken"}, "http://operator:p%40ssword@pool/size?key=a%2Fb+c", "::bad")
	cause := fmt.Errorf("no user operator with p@ssword or p%%40ssword, token t0ken, key a/b c or a%%2Fb+c: %w", context.Canceled)
	err := secrets.Error(cause)
	want := "no user ... with ... or ..., token ..., key ... or ...: context canceled"
	if err.Error() != want {
		t.Errorf("got  %q\nwant %q", err, want)
	}
	if !errors.Is(err, context.Canceled) {
		t.Error("the cause is gone")
	}
	if secrets.Error(nil) != nil {
		t.Error("made an error of none")
	}
}
