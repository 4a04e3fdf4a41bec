package records

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

func TestCriticalServicesHaveRowsOfOneRecord(t *testing.T) {
	journal := journaltest.New(t, 1)
	share := 0.34
	decider := journal.Decider(t, 0)
	decider.Begin()
	decider.Put(journal.Explanations, keys.Critical, &poolsv1.CriticalServices{
		At: timestamppb.New(time.Unix(1_800_000_000, 0)),
		Services: []*poolsv1.CriticalService{
			{
				RootService: "shop", RootOperation: "POST /orders", Service: "payment", Rank: 1, Critical: true, Traces: 600,
				ShareOfP95: &share, BlameMs: 12, Reasons: []string{"CONGESTED"},
			},
			{RootService: "shop", RootOperation: "POST /orders", Service: "shop", Rank: 2},
		},
	})
	decider.Heartbeat()
	decider.End(true)
	d := &tables{}
	run(t, journal, d)
	eventually(t, "the rows", func() bool { return len(d.column("critical_services", "at")) == 2 })
	for column, want := range map[string]string{
		"root_service": "[shop shop]", "service": "[payment shop]", "rank": "[1 2]", "critical": "[true false]",
		"at": "[1800000000.000 1800000000.000]", "reasons": "[[CONGESTED] []]", "blame_ms": "[12 0]", "traces": "[600 0]",
	} {
		if got := fmt.Sprint(d.column("critical_services", column)); got != want {
			t.Errorf("%s: %v, want %s", column, got, want)
		}
	}
	if got := d.column("critical_services", "share_of_p95"); *got[0].(*float64) != share || got[1].(*float64) != nil {
		t.Errorf("shares of the p95: %v", got)
	}
}
