package metrics

import (
	"fmt"
	"log/slog"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/topics"
)

func TestMethodsThatDoNotExistCountAsOne(t *testing.T) {
	reader := topics.NewReader(topics.Journal{}, slog.New(slog.DiscardHandler), nil)
	m := New(calls.New(nil, nil, reader.Problem), reader)
	err := status.Error(codes.Unauthenticated, "")
	m.Refused("/sluice.pools.v1.PoolSizeService/GetPoolSize", err)
	m.Refused("/sluice.pools.v1.PoolSizeService", err)
	for n := range 1000 {
		m.Refused(fmt.Sprintf("/a/b%d\xff\n", n), err)
	}
	families, gatherErr := m.Gather()
	if gatherErr != nil {
		t.Fatal(gatherErr)
	}
	got := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "sluice_server_calls_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				got[label.GetValue()] += metric.GetCounter().GetValue()
			}
		}
	}
	if len(got) != 3 || got["GetPoolSize"] != 1 || got["unknown"] != 1001 || got["Unauthenticated"] != 1002 {
		t.Error(got)
	}
}
