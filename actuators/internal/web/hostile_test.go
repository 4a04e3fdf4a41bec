package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/web"
)

// The values of headers may have names of instances in them. Each arrives as it is, or no request is sent.
func TestNoValueOfAHeaderWritesAnother(t *testing.T) {
	var got []http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header) }))
	defer server.Close()
	for _, name := range []string{
		"a\r\nX-Other: b", "a\nb", "a\r\n\r\nGET /other HTTP/1.1\r\nHost: h\r\n\r\n", "\x00", "\x1b[2J", "\u202egnp.exe", "🧵", "'\"\\", "$(id)`id`", "{}",
		strings.Repeat("x", 10_000),
	} {
		got = nil
		_, err := get(t, client(t, web.Config{Timeout: time.Minute, Headers: map[string]string{"X-Instance": name}}), server.URL)
		switch {
		case err != nil && len(got) == 0 && !strings.ContainsAny(err.Error(), "\x00\x1b\n"):
		case err == nil && len(got) == 1 && got[0].Get("X-Instance") == name && got[0].Get("X-Other") == "":
		default:
			t.Errorf("%.40q: %v, %v", name, err, got)
		}
	}
}
