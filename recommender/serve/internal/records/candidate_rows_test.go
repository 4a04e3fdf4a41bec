package records

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
)

func TestCandidatesHaveTheirTable(t *testing.T) {
	journal := journaltest.New(t, 1)
	found := timestamppb.New(time.UnixMilli(1_500))
	decider := journal.Decider(t, 0)
	decider.Begin()
	decider.Put(journal.Decisions, "candidate/none/server/", &poolsv1.Candidate{Pool: journaltest.Server("none").Proto()})
	decider.Put(journal.Decisions, "candidate/illegal/server/", &poolsv1.Candidate{})
	decider.Put(journal.Decisions, "candidate/gone/server/", nil)
	decider.Put(journal.Decisions, cart.Candidate(), &poolsv1.Candidate{
		Pool: cart.Proto(), FoundBy: poolsv1.FoundBy_FOUND_BY_METRICS, FoundAt: found, Size: proto.Uint32(8),
		SizeFrom: poolsv1.FoundBy_FOUND_BY_ACTUATOR, SeenAt: found, Concurrency: 2.5, Instances: 2,
	})
	decider.Heartbeat()
	decider.End(true)
	d := &tables{}
	stop := run(t, journal, d)
	defer stop()
	eventually(t, "two rows", func() bool { return len(d.column("pool_candidates", "service")) == 2 })
	for column, want := range map[string][]any{
		"service": {"none", "cart"}, "found_by": {"", "METRICS"}, "found_at": {nil, "1.500"}, "size_from": {"", "ACTUATOR"},
		"concurrency": {0.0, 2.5}, "instances": {uint32(0), uint32(2)},
	} {
		if got := d.column("pool_candidates", column); !slices.Equal(got, want) {
			t.Error(column, got)
		}
	}
}
