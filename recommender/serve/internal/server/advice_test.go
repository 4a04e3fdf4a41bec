package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice.dev/serve/internal/external"
	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/metrics"
	"sluice.dev/serve/internal/topics"

	poolsv1 "sluice.dev/api/pools/v1"
)

func advised(size *poolsv1.PoolSize, kind poolsv1.Advice_Kind, replicas uint32, cores float64) *poolsv1.PoolSize {
	size.Advice = &poolsv1.Advice{Kind: kind, AdvisedReplicas: &replicas, AdvisedCpuLimitCores: &cores}
	return size
}

// page is the advice in /metrics, a line each.
func (r *running) page(t *testing.T) (lines []string) {
	t.Helper()
	m := metrics.New(r.service, topics.NewReader(topics.Journal{}, slog.New(slog.DiscardHandler), nil))
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, "sluice_pool_advised") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// read is a metric of a service, in Kubernetes' form.
func (r *running) read(t *testing.T, metric, service string) string {
	t.Helper()
	path := "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/" + metric + "?labelSelector=service%3D" + service
	answer := httptest.NewRecorder()
	external.Handler(r.service.Tables).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer.Body.String()
}

func TestAdviceIsAMetricWhileTheLeaseRuns(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Lease = 4 * time.Second
	d.Publish(
		advised(journaltest.Apply(cart, 1, 12), poolsv1.Advice_KIND_SCALE_OUT, 4, 7),
		advised(journaltest.Apply(orders, 1, 12), poolsv1.Advice_KIND_KEEP, 3, 0.5),
		journaltest.Apply(catalogue, 1, 12), // nothing is said of it
	)
	r := start(t, journal, options{}).ready(t)
	want := []string{
		`sluice_pool_advised_cpu_limit_cores{service="cart"} 7`,
		`sluice_pool_advised_cpu_limit_cores{service="orders"} 0.5`,
		`sluice_pool_advised_replicas{service="cart"} 4`,
		`sluice_pool_advised_replicas{service="orders"} 3`,
	}
	if got := r.page(t); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got %v", got)
	}
	if got := r.read(t, "sluice_pool_advised_cpu_limit_cores", "orders"); !strings.Contains(got, `"value":"500m"`) {
		t.Error(got)
	}
	if got := r.read(t, "sluice_pool_advised_replicas", "cart"); !strings.Contains(got, `"value":"4"`) {
		t.Error(got)
	}
	if got := r.read(t, "sluice_pool_advised_replicas", "other"); !strings.Contains(got, `"items":[]`) {
		t.Error(got)
	}
	eventually(t, "the lease is over, and nothing is said", func() bool { return len(r.page(t)) == 0 })
}
