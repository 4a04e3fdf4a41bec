package scaling

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func replicas(n uint32) *uint32 { return &n }

func TestChange(t *testing.T) {
	everything := Reading{CPULimitCores: 2, Replicas: replicas(3), Version: "v1"}
	tests := []struct {
		name          string
		reported, now Reading
		want          string // "" for no event
		at            time.Time
	}{
		{"nothing known", Reading{}, Reading{}, "", noon},
		{"first reading", Reading{}, everything, "cpu_limit_cores=2 replicas=3 version=v1", noon},
		{"the same", everything, everything, "", noon},
		{"only what changed", everything, Reading{CPULimitCores: 4, Replicas: replicas(3), Version: "v1"}, "cpu_limit_cores=4", noon},
		{"scaled to nothing", everything, Reading{Replicas: replicas(0)}, "replicas=0", noon},
		{"what is not known any more did not change", everything, Reading{Version: "v2"}, "version=v2", noon},
		{"since when", Reading{}, Reading{Version: "v1", Since: noon.Add(-time.Hour)}, "version=v1", noon.Add(-time.Hour)},
		{"not since later than it was seen", Reading{}, Reading{Version: "v1", Since: noon.Add(time.Hour)}, "version=v1", noon},
		{"a new since is no change", Reading{Version: "v1"}, Reading{Version: "v1", Since: noon.Add(-time.Hour)}, "", noon},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			event := tt.now.Change(tt.reported, "cart", "rack-7", noon)
			if event == nil {
				if tt.want != "" {
					t.Errorf("no event, want %s", tt.want)
				}
				return
			}
			if got := Words(event); got != tt.want || event.GetService() != "cart" || event.GetSource() != "rack-7" {
				t.Errorf("%v, want %s", event, tt.want)
			}
			if got := event.GetAt().AsTime(); !got.Equal(tt.at) {
				t.Errorf("at %s, want %s", got, tt.at)
			}
		})
	}
}

// A value that was sent stays where a later reading does not know it.
func TestOver(t *testing.T) {
	reported := Reading{Version: "v2"}.over(Reading{CPULimitCores: 2, Replicas: replicas(3), Version: "v1"})
	if reported.CPULimitCores != 2 || *reported.Replicas != 3 || reported.Version != "v2" {
		t.Errorf("told %+v", reported)
	}
}
