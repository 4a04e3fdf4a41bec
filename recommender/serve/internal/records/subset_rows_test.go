package records

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/topics"

	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

func TestSubsetsAndDeliveriesHaveTheirTables(t *testing.T) {
	journal := journaltest.New(t, 1)
	key := keys.Subset{Upstream: "a", Instance: "a-1", Downstream: "b"}
	decider := journal.Decider(t, 0)
	decider.Connect([]*subsetsv1.ServiceContainers{journaltest.Containers("b", "b-1", "b-2")}, journaltest.Subset(key, 7, "b-1", "b-2"))
	decider.Begin()
	decider.Put(journal.Decisions, "subset/a/another/b", journaltest.Subset(key, 7, "b-1"))
	decider.Put(journal.Decisions, key.Record(), nil)
	decider.Heartbeat()
	decider.End(true)
	w, err := topics.NewWriter(journal.Journal)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, report := range []*subsetsv1.SubsetReport{
		{}, // of a later version
		{RequestId: "r", By: "ann", Received: timestamppb.Now(), Delivery: &subsetsv1.Delivery{
			Key: key.Proto(), Outcome: subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_REFUSED, Revision: 7, Client: "a~a-1", Detail: "no such zone",
		}},
	} {
		if err := w.Report(t.Context(), key.Record(), report, 0); err != nil {
			t.Fatal(err)
		}
	}
	d := &tables{}
	run(t, journal, d)
	eventually(t, "the rows", func() bool { return len(d.column("subsets", "at"))+len(d.column("subset_deliveries", "at")) == 2 })
	for _, tt := range []struct{ table, column, want string }{
		{"subsets", "upstream", "a"}, {"subsets", "instance", "a-1"}, {"subsets", "downstream", "b"}, {"subsets", "revision", "7"},
		{"subsets", "state", "PROVIDED"}, {"subsets", "endpoints", "[b-1 b-2]"}, {"subsets", "weights", "[1 2]"},
		{"subset_deliveries", "outcome", "REFUSED"}, {"subset_deliveries", "by", "ann"}, {"subset_deliveries", "client", "a~a-1"},
		{"subset_deliveries", "detail", "no such zone"}, {"subset_deliveries", "revision", "7"},
	} {
		if got := fmt.Sprint(d.column(tt.table, tt.column)[0]); got != tt.want {
			t.Errorf("%s.%s: %v, want %s", tt.table, tt.column, got, tt.want)
		}
	}
	if n := len(d.column("recommendations", "at")); n != 0 {
		t.Errorf("%d rows of pools", n)
	}
}

func TestExplanationsOfPairsHaveARowOfEachPairAndModel(t *testing.T) {
	journal := journaltest.New(t, 1)
	wrong, predicted := 0.07, 12.5
	decider := journal.Decider(t, 0)
	decider.Begin()
	for _, upstream := range []string{"a", "c"} {
		decider.Put(journal.Explanations, "pair/"+upstream+"/b", &subsetsv1.PairExplanation{
			Pair: &subsetsv1.Pair{Upstream: upstream, Downstream: "b"}, Application: "shop", Basis: "XGBoost of 200 samples",
			MuError: &wrong, HeldOutSamples: 60, ModelVersion: 1_700_000_000_123,
			PredictedMs: &predicted, Percentile: 0.99, Quota: 8, Least: 4, Most: 16, RatePerS: 20,
			Adoption: &subsetsv1.Adoption{Following: 5, NotFollowing: 2, Unknown: 1, FixedShare: 0.25},
		})
	}
	decider.Put(journal.Explanations, "pair/a/d", &subsetsv1.PairExplanation{Pair: &subsetsv1.Pair{Upstream: "a", Downstream: "d"}})
	decider.Put(journal.Explanations, "pool/cart/server/", &poolsv1.Explanation{})
	decider.Heartbeat()
	decider.End(true)
	d := &tables{}
	run(t, journal, d)
	eventually(t, "the rows", func() bool {
		return len(d.column("latency_models", "service")) == 2 && len(d.column("subset_pairs", "upstream")) == 3
	})
	for column, want := range map[string]string{
		"application": "[shop shop ]", "upstream": "[a c a]", "downstream": "[b b d]", "percentile": "[0.99 0.99 0]",
		"quota": "[8 8 0]", "least": "[4 4 0]", "most": "[16 16 0]", "rate_per_s": "[20 20 0]",
	} {
		if got := fmt.Sprint(d.column("subset_pairs", column)); got != want {
			t.Errorf("subset_pairs.%s: %v, want %s", column, got, want)
		}
	}
	if got := d.column("subset_pairs", "predicted_ms"); *got[0].(*float64) != predicted || got[2] != (*float64)(nil) {
		t.Errorf("predicted: %v", got)
	}
	for column, want := range map[string]uint32{"following": 5, "not_following": 2, "unknown": 1} {
		if got := d.column("subset_pairs", column); *got[0].(*uint32) != want || got[2] != (*uint32)(nil) {
			t.Errorf("subset_pairs.%s: %v", column, got)
		}
	}
	if got := d.column("subset_pairs", "fixed_share"); *got[0].(*float64) != 0.25 || got[2] != (*float64)(nil) {
		t.Errorf("fixed share: %v", got)
	}
	for column, want := range map[string]string{
		"application": "shop", "service": "b", "version": "1700000000123", "learnt": "1700000000.123", "held_out": "60",
	} {
		if got := fmt.Sprint(d.column("latency_models", column)[0]); got != want {
			t.Errorf("%s: %v, want %s", column, got, want)
		}
	}
}
