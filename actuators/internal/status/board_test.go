package status_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/watch"
	"sluice.dev/actuators/internal/reconcile"
	"sluice.dev/actuators/internal/scaling"
	"sluice.dev/actuators/internal/status"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, snapshot watch.Snapshot) (*status.Board, func(path string) string) {
	targets := []pools.Target{{
		Name: "cart.threads", Instance: "cart-7", Pool: pool.Key{Service: "cart", Side: poolsv1.Side_SIDE_SERVER}, Rules: policy.Rules{Apply: true},
	}}
	board := status.NewBoard(status.Process{Name: "bench", Version: "1", StartedAt: noon, Recommender: "127.0.0.1:50051"}, targets,
		func() watch.Snapshot { return snapshot }, func() reconcile.Stats { return reconcile.Stats{Sent: 5, Dropped: 2, Rejected: 1, Queued: 3} },
		func() []scaling.Stats {
			return []scaling.Stats{{Service: "cart", Taken: 4}, {Service: "front", Taken: 2, Error: "gone"}}
		})
	server := httptest.NewServer(board.Handler())
	t.Cleanup(server.Close)
	return board, func(path string) string {
		response, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d, %v", path, response.StatusCode, err)
		}
		return string(body)
	}
}

func pass(outcome poolsv1.ActuationOutcome, readBack uint32) pools.Pass {
	target := uint32(12)
	return pools.Pass{
		Target: "cart.threads", At: noon, Current: pool.Of(64),
		Answer:   &poolsv1.PoolSize{Action: commonv1.Action_ACTION_APPLY, Target: &target, Revision: 7},
		Decision: policy.Decision{Action: policy.Apply, Code: policy.Differs, Size: 12, Text: "write 12 over 64"},
		Report:   &poolsv1.Actuation{Outcome: outcome, Requested: &target, ReadBack: &readBack},
	}
}

func TestBeforeTheFirstPassNothingIsZero(t *testing.T) {
	_, get := open(t, watch.Snapshot{})
	page := get("/status")
	for _, absent := range []string{`"size"`, `"read_at"`, `"decision"`, `"recommendation"`, `"last_success"`, `"last_action"`} {
		if strings.Contains(page, absent) {
			t.Errorf("%s is there before the first pass:\n%s", absent, page)
		}
	}
	metrics := get("/metrics")
	for _, line := range []string{
		`sluice_actuator_actions_total{outcome="APPLIED",target="cart.threads"} 0`,
		`sluice_actuator_nacks_total{target="cart.threads"} 0`,
		`sluice_actuator_recommender_reachable 0`,
		`sluice_actuator_recommender_last_success_age_seconds NaN`,
		`sluice_actuator_scaling_told_total 6`,
		`sluice_actuator_reports_queued 3`,
		`sluice_actuator_reports_sent_total 5`,
		`sluice_actuator_reports_dropped_total 2`,
		`sluice_actuator_reports_rejected_total 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
	if strings.Contains(metrics, "sluice_actuator_pool_size{") {
		t.Error("a size is there before the first reading")
	}
}

func TestShowsEachPass(t *testing.T) {
	board, get := open(t, watch.Snapshot{ReceivedAt: time.Now()})
	board.Record(pass(poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED, 64))
	board.Record(pass(poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED, 12))
	board.Record(pass(poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED, 12))

	var page struct {
		Name        string
		Recommender struct{ Reachable bool }
		Reports     reconcile.Stats
		Targets     []struct {
			Instance       string
			Pool           struct{ Service, Side string }
			Apply          bool
			Size           uint32
			Counts         map[string]int
			Decision       struct{ Action, Code, Text string }
			Recommendation struct {
				Action string
				Target uint32
			}
			LastAction struct {
				Outcome  string
				ReadBack uint32 `json:"read_back"`
			} `json:"last_action"`
		}
	}
	text := get("/status")
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got := page.Targets[0]
	if page.Name != "bench" || !page.Recommender.Reachable || page.Reports.Dropped != 2 ||
		got.Instance != "cart-7" || got.Pool.Service != "cart" || got.Pool.Side != "server" || !got.Apply || got.Size != 12 ||
		got.Decision.Action != "apply" || got.Decision.Code != "differs" || got.Decision.Text != "write 12 over 64" ||
		got.Recommendation.Action != "ACTION_APPLY" || got.Recommendation.Target != 12 ||
		got.LastAction.Outcome != "ACTUATION_OUTCOME_APPLIED" || got.LastAction.ReadBack != 12 ||
		got.Counts["FAILED"] != 1 || got.Counts["APPLIED"] != 1 || got.Counts["OBSERVED"] != 1 {
		t.Errorf("status page:\n%s", text)
	}
	metrics := get("/metrics")
	for _, line := range []string{
		`sluice_actuator_actions_total{outcome="FAILED",target="cart.threads"} 1`,
		`sluice_actuator_nacks_total{target="cart.threads"} 1`,
		`sluice_actuator_pool_size{target="cart.threads"} 12`,
		`sluice_actuator_pool_target_size{target="cart.threads"} 12`,
		`sluice_actuator_recommender_reachable 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
}

func TestUnreadableTargetHasNoSize(t *testing.T) {
	board, get := open(t, watch.Snapshot{})
	board.Record(pass(poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED, 12))
	board.Record(pools.Pass{Target: "cart.threads", At: noon, ReadErr: errors.New("read size: connection refused")})
	page, metrics := get("/status"), get("/metrics")
	if !strings.Contains(page, `"read_error": "read size: connection refused"`) || !strings.Contains(page, `"read_errors": 1`) {
		t.Errorf("status page:\n%s", page)
	}
	if strings.Contains(metrics, "sluice_actuator_pool_size{") || strings.Contains(metrics, "sluice_actuator_pool_target_size{") {
		t.Error("sizes outlive what they were read from")
	}
	if !strings.Contains(metrics, `sluice_actuator_read_errors_total{target="cart.threads"} 1`) {
		t.Error("the failed reading is not counted")
	}
	board.Record(pass(poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED, 12))
	if page := get("/status"); strings.Contains(page, "connection refused") {
		t.Errorf("the error outlives the reading that succeeded:\n%s", page)
	}
}

func TestAPoolWithoutALimitHasNoSize(t *testing.T) {
	board, get := open(t, watch.Snapshot{})
	board.Record(pools.Pass{Target: "cart.threads", At: noon, Current: pool.Unbounded, Report: &poolsv1.Actuation{
		Outcome: poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED, Unbounded: true}})
	page, metrics := get("/status"), get("/metrics")
	if !strings.Contains(page, `"unbounded": true`) || strings.Contains(page, `"size"`) {
		t.Errorf("status page:\n%s", page)
	}
	if !strings.Contains(metrics, `sluice_actuator_pool_size{target="cart.threads"} +Inf`) {
		t.Error("metrics do not say that there is no limit")
	}
}

func TestMetricsFollowThePrometheusConventions(t *testing.T) {
	board, get := open(t, watch.Snapshot{})
	board.Record(pass(poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED, 12))
	problems, err := promlint.New(strings.NewReader(get("/metrics"))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "sluice_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestLiveAndReadyWithoutARecommender(t *testing.T) {
	_, get := open(t, watch.Snapshot{Err: errors.New("gone")})
	for _, path := range []string{"/livez", "/readyz"} {
		if got := get(path); got != "ok\n" {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestPagesOnlyRead(t *testing.T) {
	board, _ := open(t, watch.Snapshot{})
	for _, path := range []string{"/livez", "/readyz", "/status", "/metrics"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			response := httptest.NewRecorder()
			board.Handler().ServeHTTP(response, httptest.NewRequest(method, path, strings.NewReader("x")))
			if response.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, response.Code)
			}
		}
	}
}

func TestNotReadyFromTheSignalOn(t *testing.T) {
	board, _ := open(t, watch.Snapshot{})
	ctx, signal := context.WithCancel(t.Context())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if _, err := board.Serve(ctx, address); err == nil || !strings.Contains(err.Error(), address+": bind: ") {
		t.Errorf("a taken address: %v", err)
	}
	listener.Close()
	stop, err := board.Serve(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	expect := func(path string, code int, body string) {
		t.Helper()
		response, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if got, _ := io.ReadAll(response.Body); response.StatusCode != code || !strings.Contains(string(got), body) {
			t.Errorf("%s: %d %s", path, response.StatusCode, got)
		}
	}
	expect("/readyz", 200, "ok")
	signal()
	expect("/readyz", 503, "draining")
	expect("/livez", 200, "ok")
}

func TestCountsWhatExpiredAndWhatWasRolledBack(t *testing.T) {
	board, get := open(t, watch.Snapshot{})
	count := func(name string, want int) {
		t.Helper()
		if line := fmt.Sprintf("sluice_actuator_%s{target=%q} %d", name, "cart.threads", want); !strings.Contains(get("/metrics"), line) {
			t.Errorf("%s is absent", line)
		}
	}
	count("expired_total", 0)
	count("rolled_back_total", 0)

	over := pass(poolsv1.ActuationOutcome_ACTUATION_OUTCOME_REFUSED, 64)
	over.Decision = policy.Decision{Action: policy.Refuse, Code: policy.LeaseOver}
	board.Record(over)
	count("expired_total", 1)

	applied := poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED
	board.Record(pass(applied, 12)) // forwards
	count("rolled_back_total", 0)
	back := pass(applied, 12)
	back.Answer.Basis = poolsv1.Basis_BASIS_REVERT
	board.Record(back)
	count("rolled_back_total", 1)

	// An earlier process left a write: the reading shows whether it was undone.
	for _, readBack := range []uint32{64, 12} {
		left := pass(poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED, readBack)
		left.Decision.Code = policy.Resolved
		board.Record(left)
		count("rolled_back_total", 2)
	}
}

func TestShowsOccupancy(t *testing.T) {
	board, get := open(t, watch.Snapshot{})
	observed := pass(poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED, 64)
	board.Record(observed)
	if page, metrics := get("/status"), get("/metrics"); strings.Contains(page, `"busy"`) || strings.Contains(metrics, "pool_busy{") {
		t.Error("a target that does not tell shows a number")
	}
	observed.Use = pool.Use{Busy: pool.Count(64), Waiting: pool.Count(0)}
	board.Record(observed)
	if page := get("/status"); !strings.Contains(page, `"busy": 64,`) || !strings.Contains(page, `"waiting": 0,`) {
		t.Error(page)
	}
	metrics := get("/metrics")
	for _, line := range []string{`sluice_actuator_pool_busy{target="cart.threads"} 64`, `sluice_actuator_pool_waiting{target="cart.threads"} 0`} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
	board.Record(pools.Pass{Target: "cart.threads", At: noon, ReadErr: errors.New("gone")})
	if metrics := get("/metrics"); strings.Contains(metrics, "pool_busy{") || strings.Contains(metrics, "pool_waiting{") {
		t.Error("a target that cannot be read shows a number")
	}
}
