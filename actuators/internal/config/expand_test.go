package config

import (
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"HOST": "10.0.0.1", "PORT": "80", "EMPTY": "", "NESTED": "${HOST}"}[name]
		return value, ok
	}
	tests := []struct{ text, want string }{
		{"plain $HOST", "plain $HOST"},
		{"http://${HOST}:${PORT}/x", "http://10.0.0.1:80/x"},
		{"${NONE:-127.0.0.1:1}", "127.0.0.1:1"},
		{"${EMPTY:-e}", "e"},
		{"${HOST:-unused}", "10.0.0.1"},
		{"${NONE:-}", ""},
		{"${NESTED}", "${HOST}"}, // what comes from the environment is not read again
	}
	for _, tt := range tests {
		if got, err := expand(tt.text, lookup); err != nil || got != tt.want {
			t.Errorf("expand(%q) = %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
	for text, want := range map[string]string{
		"${NONE}":   "has no NONE: set it, or write ${NONE:-default}",
		"${EMPTY}":  "has no EMPTY",
		"${A B}":    "want ${NAME} or ${NAME:-default}",
		"${HOST:x}": "", // not a reference: stays as it is
	} {
		got, err := expand(text, lookup)
		if want == "" {
			if err != nil || got != text {
				t.Errorf("expand(%q) = %q, %v", text, got, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("expand(%q): %v, want an error with: %s", text, err, want)
		}
	}
}
