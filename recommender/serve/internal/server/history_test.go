package server_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"

	poolsv1 "sluice.dev/api/pools/v1"
)

type written []calls.PastDecision

func (w written) Decisions(_ context.Context, pool keys.Pool, before uint64, n int) (page []calls.PastDecision, err error) {
	if pool != cart {
		return nil, fmt.Errorf("asked for %v", pool)
	}
	for _, decision := range w {
		if decision.Revision < before && len(page) < n {
			page = append(page, decision)
		}
	}
	return page, nil
}

func TestHistoryIsPaged(t *testing.T) {
	var all written
	for n := uint64(5); n > 0; n-- {
		all = append(all, calls.PastDecision{
			Revision: n, State: "PROVIDED", Basis: "CURVE", Action: "APPLY", Target: set(8), Reasons: []string{"BETTER"},
			Since: time.UnixMilli(int64(n)), Until: time.UnixMilli(int64(n) + 1),
		})
	}
	r := start(t, journaltest.New(t, 1), options{history: all})
	request := &poolsv1.ListPoolSizeHistoryRequest{Pool: cart.Proto(), PageSize: 2}
	var got []uint64
	for {
		page, err := r.client.ListPoolSizeHistory(t.Context(), request)
		must(t, err)
		for _, decision := range page.GetAnswers() {
			got = append(got, decision.GetPoolSize().GetRevision())
			if decision.GetPoolSize().GetState() != poolsv1.State_STATE_PROVIDED || decision.GetPoolSize().GetReasons()[0].GetCode() != "BETTER" {
				t.Error(decision)
			}
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	if fmt.Sprint(got) != "[5 4 3 2 1]" {
		t.Error(got)
	}
	_, err := r.client.ListPoolSizeHistory(t.Context(), &poolsv1.ListPoolSizeHistoryRequest{Pool: orders.Proto()})
	assertError(t, err, codes.Unavailable, problem.DatabaseAway, "")
}
