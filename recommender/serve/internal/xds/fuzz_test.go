package xds

import (
	"encoding/json"
	"maps"
	"testing"
	"unicode/utf8"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/encoding/protojson"
)

// FuzzVersion: clients send versions back, and may change them. No shard of one is below the first.
func FuzzVersion(f *testing.F) {
	for _, text := range []string{"", "@=", "01020304@0:7,1:9=abc", "01020304@-1:7=abc", "01020304@0:-7=abc", "a@1=b", "a@99999999999:1=b", "a@0:1,0:2=b@="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := parseVersion(text)
		for shard := range v.places {
			if shard < 0 {
				t.Errorf("%q has shard %d", text, shard)
			}
		}
		again := parseVersion(v.String())
		if len(v.places) > 0 && (again.topic != v.topic || again.content != v.content || !maps.Equal(again.places, v.places)) {
			t.Errorf("%q is %v, and again %v", text, v, again)
		}
		_, _, _ = address(text)
	})
}

// FuzzNode: whoever a node says it is, its names can be written to the journal.
func FuzzNode(f *testing.F) {
	for _, text := range []string{
		`{"id": "a~a-1"}`, `{"id": "a%ff~a-1"}`, `{"id": "sidecar~10.0.0.1~p.n~d", "metadata": {"NAME": "p", "LABELS": {"app": "a"}}}`,
		`{"metadata": {"service": "a", "instance": 7}}`, `{"metadata": {"LABELS": []}, "id": "sidecar~~~"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		message := &core.Node{}
		if protojson.Unmarshal([]byte(text), message) != nil {
			return
		}
		n, err := nodeOf(message)
		if err == nil && (n.upstream == "" || n.instance == "" || !utf8.ValidString(n.upstream) || !utf8.ValidString(n.instance)) {
			t.Errorf("%s is %v", text, n)
		}
	})
}

// FuzzSettings: a setting of clusters is refused, or each of its clusters has fields that Envoys take.
func FuzzSettings(f *testing.F) {
	for _, text := range []string{
		`{"b": {"connect_timeout": "1s"}}`, `{"*": null}`, `{"b": {` + overTLS + `}}`, `{"b": {` + byHTTP2 + `}}`, `[]`, `{"consecutive_5xx": 5}`,
		"orders/client/db,cart/client/db", "a//b", "zone",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := ParseClusterSettings(text)
		if err == nil && len(settings) > 0 && !json.Valid([]byte(text)) {
			t.Errorf("%q was taken", text)
		}
		for service, message := range settings {
			if message == nil {
				t.Errorf("%q has nothing for %q", text, service)
			}
		}
		_, _ = ParseOutlierDetection(text)
		_, _ = ParseSizedPools(text)
		_, _ = ParseLocalities(text)
	})
}
