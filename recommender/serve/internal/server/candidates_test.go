package server_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// candidates writes records of candidates; a nil candidate is gone.
func candidates(d *journaltest.Decider, topic string, all map[keys.Pool]*poolsv1.Candidate) {
	d.Begin()
	for pool, candidate := range all {
		if candidate == nil {
			d.Put(topic, pool.Candidate(), nil)
			continue
		}
		candidate.Pool = pool.Proto()
		d.Put(topic, pool.Candidate(), candidate)
	}
	d.Heartbeat()
	d.End(true)
}

func TestCandidatesAreListedInPagesUntilTheyAreGone(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	mail, orders := journaltest.Server("mail"), journaltest.Client("mail", "orders")
	candidates(d, journal.Decisions, map[keys.Pool]*poolsv1.Candidate{
		mail: {FoundBy: poolsv1.FoundBy_FOUND_BY_METRICS, Why: "metrics have its size"}, orders: {Why: "no size"}, cart: {},
	})
	r := start(t, journal, options{}).ready(t)
	names := func(request *poolsv1.ListCandidatesRequest) (all []string) {
		for {
			page, err := r.client.ListCandidates(t.Context(), request)
			must(t, err)
			for _, candidate := range page.GetCandidates() {
				all = append(all, keys.PoolOf(candidate.GetPool()).String())
			}
			if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
				return all
			}
		}
	}
	if got := names(&poolsv1.ListCandidatesRequest{PageSize: 1}); len(got) != 3 || got[0] != "cart/server" || got[2] != "mail/client/orders" {
		t.Error(got)
	}
	if got := names(&poolsv1.ListCandidatesRequest{Service: "cart"}); len(got) != 1 {
		t.Error(got)
	}
	candidates(d, journal.Decisions, map[keys.Pool]*poolsv1.Candidate{mail: nil})
	eventually(t, "it is gone", func() bool { return len(names(&poolsv1.ListCandidatesRequest{Service: "mail"})) == 1 })
	_, err := r.client.ListCandidates(t.Context(), &poolsv1.ListCandidatesRequest{PageSize: -1})
	if status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
}

// The size that an actuator reports makes a candidate a pool, so it has to reach the decider before there is a decision.
func TestASizeOfACandidateIsStoredInItsShard(t *testing.T) {
	journal := journaltest.New(t, 2)
	for shard := range int32(2) {
		d := journal.Decider(t, shard)
		d.Publish()
		if shard == 1 {
			candidates(d, journal.Decisions, map[keys.Pool]*poolsv1.Candidate{cart: {}})
		}
	}
	r := start(t, journal, options{}).ready(t)
	observed := func(pool *poolsv1.Pool) error {
		_, err := r.client.ReportActuation(t.Context(), report(func(a *poolsv1.Actuation) {
			a.Pool, a.Revision, a.Outcome = pool, 0, poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED
		}))
		return err
	}
	must(t, observed(cart.Proto()))
	if records := journal.Read(t, journal.Observed); len(records) != 1 || records[0].Partition != 1 {
		t.Error(records)
	}
	if err := observed(journaltest.Server("other").Proto()); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
	if err := observed(nil); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
}
