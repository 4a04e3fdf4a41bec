package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	sluicev1 "sluice.dev/actuators/gen/sluice/v1"
	"sluice.dev/actuators/internal/pool"
)

// These tests run the command as a process of its own, with the configuration of the local stack, a real gRPC
// server and a real HTTP target.

var (
	cartThreads          = pool.Key{Service: "cart", Side: sluicev1.Side_SIDE_SERVER}
	catalogueConnections = pool.Key{Service: "catalogue", Side: sluicev1.Side_SIDE_CLIENT, Peer: "catalogue-db"}

	observed = sluicev1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED
	applied  = sluicev1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED
	refused  = sluicev1.ActuationOutcome_ACTUATION_OUTCOME_REFUSED
)

type process struct {
	command *exec.Cmd
	status  string
	errs    bytes.Buffer
}

func command(t *testing.T, r *recommender, shopURL string, arguments ...string) *process {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	p := &process{status: "http://" + address}
	p.command = exec.Command(os.Args[0], append([]string{"--config", localConfig}, arguments...)...)
	p.command.Env = append(os.Environ(), "BE_SLUICE_ACTUATOR=1",
		"SLUICE_RECOMMENDER="+r.address, "SLUICE_DEMO="+shopURL, "SLUICE_ACTUATOR="+p.status)
	p.command.Stderr = &p.errs
	return p
}

func (p *process) start(t *testing.T) {
	t.Helper()
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.command.Process.Kill() })
}

// stop sends SIGTERM and wants a clean end.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.command.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, &p.errs)
	}
	if !strings.Contains(p.errs.String(), "msg=stopped") {
		t.Errorf("no word of the end:\n%s", &p.errs)
	}
}

func (p *process) get(path string) (int, string) {
	response, err := http.Get(p.status + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(body)
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after 15 s still not: %s", what)
		}
	}
}

func TestOnceRecommendOnly(t *testing.T) {
	r := startRecommender(t)
	r.recommend(cartThreads, 12, 7)
	shop, url := startShop(t)
	p := command(t, r, url, "--once")
	if err := p.command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &p.errs)
	}
	if got := shop.written(); got != "[]" {
		t.Errorf("wrote %s without an opt-in", got)
	}
	report := r.find("cart.threads", observed)
	if report.GetReadBack() != 64 || report.GetRevision() != 7 || report.GetActuator() != "local" || report.GetRequested() != 0 {
		t.Errorf("report of cart.threads: %v", report)
	}
	if report := r.find("catalogue.connections", observed); report.GetReadBack() != 12 || pool.FromProto(report.GetPool()) != catalogueConnections {
		t.Errorf("report of catalogue.connections: %v", report)
	}
}

func TestOnceAppliesWhereOptedIn(t *testing.T) {
	r := startRecommender(t)
	r.recommend(cartThreads, 12, 7)
	r.recommend(catalogueConnections, 6, 3)
	shop, url := startShop(t)
	p := command(t, r, url, "--once", "--apply", "cart.threads")
	if err := p.command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &p.errs)
	}
	if got := shop.written(); got != "[cart.threads=12]" {
		t.Errorf("wrote %s, want [cart.threads=12]", got)
	}
	report := r.find("cart.threads", applied)
	if report.GetPrevious() != 64 || report.GetRequested() != 12 || report.GetReadBack() != 12 || report.GetRevision() != 7 {
		t.Errorf("report: %v", report)
	}
}

func TestOnceFails(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		r := startRecommender(t)
		r.recommend(cartThreads, 200, 7) // the local stack's limit is 128
		_, url := startShop(t)
		p := command(t, r, url, "--once", "--apply", "all")
		if err := p.command.Run(); err == nil || !strings.Contains(p.errs.String(), "1 of 2 targets") {
			t.Errorf("%v\n%s", err, &p.errs)
		}
		if report := r.find("cart.threads", refused); report.GetRequested() != 200 || report.GetReadBack() != 64 {
			t.Errorf("report: %v", report)
		}
	})
	t.Run("no recommender", func(t *testing.T) {
		r := startRecommender(t)
		r.server.Stop()
		_, url := startShop(t)
		p := command(t, r, url, "--once")
		if err := p.command.Run(); err == nil || !strings.Contains(p.errs.String(), "list pool sizes: ") {
			t.Errorf("%v\n%s", err, &p.errs)
		}
	})
}

func TestRunsAppliesSurvivesAndStops(t *testing.T) {
	r := startRecommender(t)
	r.recommend(cartThreads, 12, 7)
	shop, url := startShop(t)
	p := command(t, r, url, "--apply", "cart.threads")
	p.start(t)
	eventually(t, "cart.threads applied and reported", func() bool { return r.find("cart.threads", applied) != nil })
	eventually(t, "catalogue.connections observed", func() bool { return r.find("catalogue.connections", observed) != nil })
	if got := shop.size("cart.threads"); got != 12 {
		t.Errorf("size %d, want 12", got)
	}

	// The recommender goes away: the size stays, the process lives and says so.
	r.server.Stop()
	eventually(t, "recommender reported as lost", func() bool {
		_, metrics := p.get("/metrics")
		return strings.Contains(metrics, "sluice_actuator_recommender_reachable 0")
	})
	if code, health := p.get("/healthz"); code != http.StatusOK || !strings.Contains(health, `"recommender_reachable": false`) {
		t.Errorf("healthz %d %s", code, health)
	}
	_, text := p.get("/status")
	var page struct {
		Recommender struct {
			Reachable bool
			Error     string
		}
		Targets []struct {
			Name           string
			Size           uint32
			Counts         map[string]int
			Recommendation struct{ State string }
			LastAction     struct{ Outcome string } `json:"last_action"`
		}
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if first := page.Targets[0]; page.Recommender.Reachable || page.Recommender.Error == "" || first.Name != "cart.threads" ||
		first.Size != 12 || first.Counts["APPLIED"] != 1 || first.Recommendation.State != "PROVIDED" ||
		first.LastAction.Outcome != "ACTUATION_OUTCOME_APPLIED" {
		t.Errorf("status page:\n%s", text)
	}

	// It comes back with another size.
	r.mu.Lock()
	r.sizes = nil
	r.mu.Unlock()
	r.recommend(cartThreads, 16, 8)
	r.listen(t)
	eventually(t, "the next size applied", func() bool { return shop.size("cart.threads") == 16 })
	eventually(t, "recommender reported as reachable", func() bool {
		_, metrics := p.get("/metrics")
		return strings.Contains(metrics, "sluice_actuator_recommender_reachable 1")
	})
	p.stop(t)
	if got := shop.written(); got != "[cart.threads=12 cart.threads=16]" {
		t.Errorf("wrote %s", got)
	}
}

func TestTakenStatusAddressIsNamed(t *testing.T) {
	r := startRecommender(t)
	_, url := startShop(t)
	p := command(t, r, url)
	p.command.Env = append(p.command.Env, "SLUICE_ACTUATOR=http://"+r.address)
	if err := p.command.Run(); err == nil || !strings.Contains(p.errs.String(), r.address+": bind: address already in use") {
		t.Errorf("%v\n%s", err, &p.errs)
	}
}
