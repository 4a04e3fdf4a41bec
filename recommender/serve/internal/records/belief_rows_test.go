package records

import (
	"fmt"
	"testing"

	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
)

func TestBeliefsHaveARowOfEachPoolThatHasOne(t *testing.T) {
	journal := journaltest.New(t, 1)
	decider := journal.Decider(t, 0)
	decider.Begin()
	believed := &poolsv1.Explanation{Evidence: &poolsv1.Explanation_Belief{Belief: &poolsv1.BeliefEvidence{
		Curve: []*poolsv1.BelievedPoint{
			{Size: 8, ThroughputPerS: 200, LowerPerS: 180.5, UpperPerS: 220},
			{Size: 16, ThroughputPerS: 190, LowerPerS: 150, UpperPerS: 230},
		},
		Knee: 7, Best: 9, Upper: 12, Seconds: 60.5, CpuLimitCores: 2,
	}}}
	decider.Put(journal.Explanations, "pool/a%2Fb/client/db", believed)
	decider.Put(journal.Explanations, "pool/cart/client/", believed) // left out: a client pool has a peer
	decider.Put(journal.Explanations, "pool/cart/server/", &poolsv1.Explanation{
		Evidence: &poolsv1.Explanation_Curve{Curve: &poolsv1.CurveEvidence{}},
	})
	decider.Put(journal.Explanations, "pool/mail/server/", nil)
	decider.Heartbeat()
	decider.End(true)
	d := &tables{}
	run(t, journal, d)
	eventually(t, "the row", func() bool { return len(d.column("pool_beliefs", "at")) > 0 })
	for column, want := range map[string]string{
		"service": "[a/b]", "side": "[client]", "peer": "[db]", "sizes": "[[8 16]]", "expected_per_s": "[[200 190]]",
		"lower_per_s": "[[180.5 150]]", "upper_per_s": "[[220 230]]", "knee": "[7]", "best": "[9]", "upper": "[12]",
		"seconds": "[60.5]", "cpu_limit_cores": "[2]",
	} {
		if got := fmt.Sprint(d.column("pool_beliefs", column)); got != want {
			t.Errorf("%s: %v, want %s", column, got, want)
		}
	}
}
