package xds

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"sluice.dev/serve/internal/table"
)

func TestOutlierDetectionIsReadWithEnvoysNames(t *testing.T) {
	got, err := ParseOutlierDetection(`{"consecutive_5xx": 7, "base_ejection_time": "30s", "max_ejection_percent": 50}`)
	if err != nil {
		t.Fatal(err)
	}
	if got.GetConsecutive_5Xx().GetValue() != 7 || got.GetBaseEjectionTime().AsDuration() != 30*time.Second || got.GetMaxEjectionPercent().GetValue() != 50 {
		t.Error(got)
	}
	if got, err := ParseOutlierDetection(" "); got != nil || err != nil {
		t.Error(got, err)
	}
	for text, want := range map[string]string{
		`{"max_ejection_percent": 101}`: "MaxEjectionPercent",
		`{"interval": "0s"}`:            "Interval",
		`{"consecutive_4xx": 7}`:        "consecutive_4xx",
		`7`:                             "no OutlierDetection",
	} {
		if _, err := ParseOutlierDetection(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestClustersCarryTheOutlierDetectionOfTheSettings(t *testing.T) {
	detection, err := ParseOutlierDetection(`{"consecutive_5xx": 7}`)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]bool{}
	for _, settings := range []Settings{{}, {OutlierDetection: detection}} {
		hub := New(nil, slog.New(slog.DiscardHandler), settings)
		defer hub.Stop()
		c := &client{hub: hub, node: &node{"a~a-1", "a", "a-1"}}
		resources := c.resources(&table.Tables{}, clusterType, []string{"b"})
		message := &cluster.Cluster{}
		if err := resources[0].body.UnmarshalTo(message); err != nil {
			t.Fatal(err)
		}
		want := settings.OutlierDetection.GetConsecutive_5Xx().GetValue()
		if got := message.GetOutlierDetection().GetConsecutive_5Xx().GetValue(); got != want {
			t.Errorf("consecutive_5xx %d, want %d", got, want)
		}
		if (message.GetOutlierDetection() == nil) != (settings.OutlierDetection == nil) {
			t.Error(message)
		}
		versions[resources[0].version.content] = true
	}
	if len(versions) != 2 {
		t.Error("a client that has the cluster without it does not get the one with it")
	}
}
