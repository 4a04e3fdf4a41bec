package web_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"sluice.dev/actuators/internal/web"
)

// Every request is marked as Sluice's, and as not sampled; headers of the file override the marks.
func TestRequestsAreMarked(t *testing.T) {
	var headers []http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { headers = append(headers, r.Header) }))
	defer server.Close()
	named := web.Default()
	named.Headers = map[string]string{"User-Agent": "shop"}
	for _, config := range []web.Config{web.Default(), web.Default(), named} {
		if _, err := get(t, client(t, config), server.URL); err != nil {
			t.Fatal(err)
		}
	}
	notSampled := regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-00$`)
	for i, header := range headers {
		if !notSampled.MatchString(header.Get("traceparent")) || header.Get("Sluice-Request") != "1" {
			t.Errorf("request %d: %v", i, header)
		}
	}
	if headers[0].Get("traceparent") == headers[1].Get("traceparent") {
		t.Error("two requests are one trace")
	}
	if got := headers[0].Get("User-Agent"); got != "sluice-actuator/development" {
		t.Error(got)
	}
	if got := headers[2].Get("User-Agent"); got != "shop" {
		t.Error(got)
	}
}
