package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice.dev/serve/internal/logtest"
	"sluice.dev/serve/internal/metrics"
	"sluice.dev/serve/internal/topics"

	poolsv1 "sluice.dev/api/pools/v1"
)

func advised(size *poolsv1.PoolSize, kind poolsv1.Advice_Kind, replicas uint32, cores float64) *poolsv1.PoolSize {
	size.Advice = &poolsv1.Advice{Kind: kind, AdvisedReplicas: &replicas, AdvisedCpuLimitCores: &cores}
	return size
}

// page is what /metrics says of advice, a line each.
func (r *running) page(t *testing.T) (lines []string) {
	t.Helper()
	m := metrics.New(r.service, topics.NewReader(topics.Log{}, slog.New(slog.DiscardHandler), nil))
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, "sluice_pool_advised") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func TestAdviceIsAMetricWhileTheLeaseRuns(t *testing.T) {
	log := logtest.New(t, 1)
	d := log.Decider(t, 0)
	d.Lease = 2 * time.Second
	d.Publish(
		advised(logtest.Apply(cart, 1, 12), poolsv1.Advice_KIND_SCALE_OUT, 4, 7),
		advised(logtest.Apply(orders, 1, 12), poolsv1.Advice_KIND_KEEP, 3, 0.5),
		logtest.Apply(catalogue, 1, 12), // nothing is said of it
	)
	r := start(t, log, options{}).ready(t)
	want := []string{
		`sluice_pool_advised_cpu_limit_cores{service="cart"} 7`,
		`sluice_pool_advised_cpu_limit_cores{service="orders"} 0.5`,
		`sluice_pool_advised_replicas{service="cart"} 4`,
		`sluice_pool_advised_replicas{service="orders"} 3`,
	}
	if got := r.page(t); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got %v", got)
	}
	eventually(t, "the lease is over, and nothing is said", func() bool { return len(r.page(t)) == 0 })
}
