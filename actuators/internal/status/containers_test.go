package status

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/membership"
	"sluice.dev/actuators/internal/pools/watch"
	"sluice.dev/actuators/internal/reconcile"
	"sluice.dev/actuators/internal/scaling"
)

func TestContainersAreShown(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_500).UTC()
	board := NewBoard(Process{}, nil, func() watch.Snapshot { return watch.Snapshot{} }, func() reconcile.Stats { return reconcile.Stats{} },
		func() []scaling.Stats { return nil })
	board.Containers = func() []membership.Stats {
		return []membership.Stats{
			{Service: "cart", Live: 3, Drained: 1, TakenAt: &at, Taken: 7, Failed: 2},
			{Service: "orders", Rejected: 1, Error: "too many", Faults: []string{"2 endpoints name no pod"}},
		}
	}
	get := func(path string) string {
		recorder := httptest.NewRecorder()
		board.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
		return recorder.Body.String()
	}
	metrics, page := get("/metrics"), get("/status")
	for _, line := range []string{
		`sluice_actuator_containers_reported{service="cart",state="live"} 3`,
		`sluice_actuator_containers_reported{service="cart",state="drained"} 1`,
		`sluice_actuator_container_lists_total{outcome="taken",service="cart"} 7`,
		`sluice_actuator_container_lists_total{outcome="failed",service="cart"} 2`,
		`sluice_actuator_container_lists_total{outcome="rejected",service="orders"} 1`,
		`sluice_actuator_containers_taken_timestamp_seconds{service="cart"} 1.7000000005e+09`,
		`sluice_actuator_containers_unknown{service="cart"} 0`,
		`sluice_actuator_containers_unknown{service="orders"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
	if strings.Contains(metrics, `containers_reported{service="orders"`) {
		t.Error("orders has a number of containers before the recommender took a list")
	}
	for _, text := range []string{`"live": 3`, `"error": "too many"`, `"2 endpoints name no pod"`, `"taken_at": "2023-11-14T22:13:20.5Z"`} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %s", text)
		}
	}
}
