package xds

import (
	"fmt"
	"strings"
	"testing"
)

// Three endpoints in two zones, one of them not ready.
func TestLocalitiesOfEndpoints(t *testing.T) {
	assigned := []endpoint{
		{instance: "b-1", host: "10.0.0.1", port: 80, zone: "z1", weight: 3},
		{instance: "b-2", host: "10.0.0.2", port: 80, zone: "z2", weight: 2},
		{instance: "b-3", host: "10.0.0.3", port: 80, zone: "z1", weight: 4, notReady: true},
	}
	const perContainer = "z1/b-1*3: 10.0.0.1*3 UNKNOWN; z2/b-2*2: 10.0.0.2*2 UNKNOWN"
	for _, tt := range []struct {
		by   Localities
		grpc bool
		want string
	}{
		{ContainerLocalities, false, perContainer + "; z1/b-3*4: 10.0.0.3*4 UNHEALTHY"},
		{ZoneLocalities, false, "z1/*7: 10.0.0.1*3 UNKNOWN 10.0.0.3*4 UNHEALTHY; z2/*2: 10.0.0.2*2 UNKNOWN"},
		{ContainerLocalities, true, perContainer},
		{ZoneLocalities, true, perContainer},
	} {
		message := assignment("b", assigned, tt.by, tt.grpc)
		if err := message.ValidateAll(); err != nil {
			t.Error(err)
		}
		var got []string
		for _, locality := range message.GetEndpoints() {
			text := fmt.Sprintf("%s/%s*%d:", locality.GetLocality().GetZone(), locality.GetLocality().GetSubZone(), locality.GetLoadBalancingWeight().GetValue())
			for _, e := range locality.GetLbEndpoints() {
				text += fmt.Sprintf(" %s*%d %s", e.GetEndpoint().GetAddress().GetSocketAddress().GetAddress(), e.GetLoadBalancingWeight().GetValue(), e.GetHealthStatus())
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s, gRPC %t: %q, want %q", tt.by, tt.grpc, got, tt.want)
		}
	}
}

func TestNamesOfLocalities(t *testing.T) {
	for text, want := range map[string]Localities{"": ContainerLocalities, "container": ContainerLocalities, "zone": ZoneLocalities} {
		if got, err := ParseLocalities(text); got != want || err != nil {
			t.Error(text, got, err)
		}
	}
	if _, err := ParseLocalities("region"); err == nil || !strings.Contains(err.Error(), "legal: container, zone") {
		t.Error(err)
	}
}
