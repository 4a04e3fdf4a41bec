package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/tests/files"
	"sluice.dev/actuators/internal/tests/recommendertest"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// These tests run the command as a process of its own, with the configuration of the local stack, a real gRPC
// server and a real HTTP target.

var (
	cartThreads          = pool.Key{Service: "cart", Side: poolsv1.Side_SIDE_SERVER}
	catalogueConnections = pool.Key{Service: "catalogue", Side: poolsv1.Side_SIDE_CLIENT, Peer: "catalogue-db"}

	observed = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED
	applied  = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED
	refused  = poolsv1.ActuationOutcome_ACTUATION_OUTCOME_REFUSED
)

type process struct {
	command *exec.Cmd
	status  string
	errs    bytes.Buffer
}

func command(t *testing.T, r *recommendertest.Server, shopURL string, arguments ...string) *process {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	p := &process{status: "http://" + address}
	p.command = exec.Command(os.Args[0], append([]string{"--config", localConfig}, arguments...)...)
	p.command.Env = append(os.Environ(), "BE_SLUICE_ACTUATOR=1",
		"SLUICE_RECOMMENDER="+r.Address, "SLUICE_DEMO="+shopURL, "SLUICE_ACTUATOR="+p.status)
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

// stop sends SIGTERM and expects a clean end.
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
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after a minute still not: %s", what)
		}
	}
}

func TestOnceRecommendOnly(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 12, 7)
	shop, url := startShop(t)
	p := command(t, r, url, "--once")
	if err := p.command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &p.errs)
	}
	if got := shop.written(); got != "[]" {
		t.Errorf("wrote %s without an opt-in", got)
	}
	report := r.Find("cart.threads", observed)
	if report.GetReadBack() != 64 || report.GetRevision() != 7 || report.GetActuator() != "local" || report.GetRequested() != 0 ||
		!report.GetRecommends() {
		t.Errorf("report of cart.threads: %v", report)
	}
	if report := r.Find("catalogue.connections", observed); report.GetReadBack() != 12 || pool.FromProto(report.GetPool()) != catalogueConnections {
		t.Errorf("report of catalogue.connections: %v", report)
	}
}

func TestOnceAppliesWhereOptedIn(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 32, 7)
	r.Recommend(catalogueConnections, 6, 3)
	shop, url := startShop(t)
	p := command(t, r, url, "--once", "--apply", "cart.threads")
	if err := p.command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &p.errs)
	}
	if got := shop.written(); got != "[cart.threads=32]" {
		t.Errorf("wrote %s, want [cart.threads=32]", got)
	}
	report := r.Find("cart.threads", applied)
	if report.GetPrevious() != 64 || report.GetRequested() != 32 || report.GetReadBack() != 32 || report.GetRevision() != 7 {
		t.Errorf("report: %v", report)
	}
}

func TestOnceFails(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		r := recommendertest.Start(t)
		r.Recommend(cartThreads, 200, 7) // the local stack's limit is 128
		_, url := startShop(t)
		p := command(t, r, url, "--once", "--apply", "all")
		if err := p.command.Run(); err == nil || !strings.Contains(p.errs.String(), "1 of 2 targets") {
			t.Errorf("%v\n%s", err, &p.errs)
		}
		if report := r.Find("cart.threads", refused); report.GetRequested() != 200 || report.GetReadBack() != 64 {
			t.Errorf("report: %v", report)
		}
	})
	t.Run("no recommender", func(t *testing.T) {
		r := recommendertest.Start(t)
		r.Stop()
		_, url := startShop(t)
		p := command(t, r, url, "--once")
		if err := p.command.Run(); err == nil || !strings.Contains(p.errs.String(), "list pool sizes: ") {
			t.Errorf("%v\n%s", err, &p.errs)
		}
	})
}

func TestRunsAppliesSurvivesAndStops(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 32, 7)
	shop, url := startShop(t)
	p := command(t, r, url, "--apply", "cart.threads")
	p.start(t)
	eventually(t, "cart.threads applied and reported", func() bool { return r.Find("cart.threads", applied) != nil })
	eventually(t, "catalogue.connections observed", func() bool { return r.Find("catalogue.connections", observed) != nil })
	if got := shop.size("cart.threads"); got != 32 {
		t.Errorf("size %d, want 32", got)
	}

	// Decisions are streamed: the actuator sends no further requests for them.
	if watches := r.Watches(); len(watches) != 1 || watches[0].GetService() != "" {
		t.Errorf("watches %v, want one of every service", watches)
	}

	// The recommender goes away: the size stays, and the process lives and reports that.
	r.Stop()
	eventually(t, "recommender reported as lost", func() bool {
		_, metrics := p.get("/metrics")
		return strings.Contains(metrics, "sluice_actuator_recommender_reachable 0")
	})
	for _, path := range []string{"/livez", "/readyz"} {
		if code, text := p.get(path); code != http.StatusOK || text != "ok\n" {
			t.Errorf("%s without a recommender: %d %s", path, code, text)
		}
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
			Recommendation struct{ Action string }
			LastAction     struct{ Outcome string } `json:"last_action"`
		}
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if first := page.Targets[0]; page.Recommender.Reachable || page.Recommender.Error == "" || first.Name != "cart.threads" ||
		first.Size != 32 || first.Counts["APPLIED"] != 1 || first.Recommendation.Action != "ACTION_APPLY" ||
		first.LastAction.Outcome != "ACTUATION_OUTCOME_APPLIED" {
		t.Errorf("status page:\n%s", text)
	}

	// It comes back with another size.
	r.Forget()
	r.Recommend(cartThreads, 16, 8)
	r.Listen(t)
	eventually(t, "the next size applied", func() bool { return shop.size("cart.threads") == 16 })
	eventually(t, "recommender reported as reachable", func() bool {
		_, metrics := p.get("/metrics")
		return strings.Contains(metrics, "sluice_actuator_recommender_reachable 1")
	})
	p.stop(t)
	if !strings.Contains(p.errs.String(), "memory_limit=") {
		t.Errorf("the memory limit is not in the log:\n%s", &p.errs)
	}
	if got := shop.written(); got != "[cart.threads=32 cart.threads=16]" {
		t.Errorf("wrote %s", got)
	}
}

// The recommender's name does not resolve yet: the process reads its targets, is ready, and keeps trying.
func TestTheRecommendersNameDoesNotResolve(t *testing.T) {
	r := recommendertest.Start(t)
	_, url := startShop(t)
	p := command(t, r, url)
	p.command.Env = append(p.command.Env, "SLUICE_RECOMMENDER=sluice-server.invalid:50051")
	p.start(t)
	eventually(t, "the size read, and the recommender's error shown", func() bool {
		_, page := p.get("/status")
		return strings.Contains(page, `"size": 64`) && strings.Contains(page, `"error": "`) && strings.Contains(page, `"reachable": false`)
	})
	if code, text := p.get("/readyz"); code != http.StatusOK {
		t.Errorf("readyz %d %s", code, text)
	}
	p.stop(t)
}

// A decision whose lease ran out is not written: the size stays, and the recommender gets the reason.
func TestLeaseRunsOut(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 32, 7)
	shop, url := startShop(t)
	p := command(t, r, url, "--apply", "cart.threads")
	p.start(t)
	eventually(t, "the first size applied", func() bool { return r.Find("cart.threads", applied) != nil })
	r.Beat(-time.Second) // confirms what was received, and no longer than until a second ago
	size := uint32(20)
	r.Answer(&poolsv1.PoolSize{Pool: cartThreads.Proto(), Action: commonv1.Action_ACTION_APPLY, Target: &size, Revision: 8,
		ValidUntil: timestamppb.New(time.Now().Add(time.Minute))})
	eventually(t, "the refusal", func() bool { return r.Find("cart.threads", refused) != nil })
	if report := r.Find("cart.threads", refused); report.GetRequested() != 20 || !strings.Contains(report.GetDetail(), "the lease ended") {
		t.Errorf("report %v", report)
	}
	if got := shop.written(); got != "[cart.threads=32]" {
		t.Errorf("wrote %s, want the size of the valid lease only", got)
	}
	p.stop(t)
}

func TestReportsScaling(t *testing.T) {
	r := recommendertest.Start(t)
	_, url := startShop(t)
	directory := t.TempDir()
	limit, file := filepath.Join(directory, "cpu.max"), filepath.Join(directory, "actuator.yaml")
	local, err := os.ReadFile(localConfig)
	if err != nil {
		t.Fatal(err)
	}
	files.Write(t, limit, "200000 100000")
	files.Write(t, file, string(local)+"\nscaling:\n  - {service: cart, cgroup: {path: \"${CPU_MAX}\"}}\n")
	p := command(t, r, url)
	p.command.Args[2] = file
	p.command.Env = append(p.command.Env, "CPU_MAX="+limit)
	p.start(t)
	eventually(t, "the limit at the start", func() bool { return len(r.Scalings()) == 1 })
	files.Write(t, limit, "400000 100000")
	eventually(t, "the limit after the change", func() bool { return len(r.Scalings()) == 2 })
	for i, cores := range []float64{2, 4} {
		if event := r.Scalings()[i]; event.GetCpuLimitCores() != cores || event.GetSource() != "local" || event.GetService() != "cart" {
			t.Errorf("event %v, want %g cores", event, cores)
		}
	}
	eventually(t, "both on the status page", func() bool {
		_, page := p.get("/status")
		return strings.Contains(page, `"told": 2`)
	})
	p.stop(t)
}

// Instances in a file are targets of their own, from their first appearance until they are gone.
func TestInstancesComeAndGo(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 32, 7)
	one, oneURL := startShop(t)
	two, twoURL := startShop(t)
	folder := t.TempDir()
	list, file := filepath.Join(folder, "instances.yaml"), filepath.Join(folder, "actuator.yaml")
	address := func(url, instance string) string {
		return "- {address: \"" + strings.TrimPrefix(url, "http://") + "\", instance: " + instance + "}\n"
	}
	files.Write(t, list, address(oneURL, "cart-1"))
	files.Write(t, file, `name: local
status_address: ${SLUICE_ACTUATOR}
recommender: {address: "${SLUICE_RECOMMENDER}", interval: 100ms}
discover:
  - name: cart
    interval: 100ms
    file: {path: "`+list+`"}
    target:
      pool: {service: cart, side: server}
      apply: true
      min: 2
      max: 128
      http: {read: {url: "http://${ADDRESS}/pools/cart.threads"}, write: {url: "http://${ADDRESS}/pools/cart.threads"}}
`)
	p := command(t, r, oneURL)
	p.command.Args[2] = file
	p.start(t)
	eventually(t, "the first applied", func() bool { return r.Find("cart.cart-1", applied) != nil })
	files.Write(t, list, address(oneURL, "cart-1")+address(twoURL, "cart-2"))
	eventually(t, "the second applied", func() bool { return r.Find("cart.cart-2", applied) != nil })
	if report := r.Find("cart.cart-2", applied); report.GetInstance() != "cart-2" {
		t.Errorf("report %v, want the instance", report)
	}
	files.Write(t, list, address(twoURL, "cart-2"))
	eventually(t, "the first forgotten", func() bool {
		_, page := p.get("/status")
		_, metrics := p.get("/metrics")
		return !strings.Contains(page, "cart-1") && strings.Contains(page, "cart-2") && !strings.Contains(metrics, "cart-1")
	})
	p.stop(t)
	if a, b := one.written(), two.written(); a != "[cart.threads=32]" || b != "[cart.threads=32]" {
		t.Errorf("wrote %s and %s", a, b)
	}
}

func TestTakenStatusAddressIsNamed(t *testing.T) {
	r := recommendertest.Start(t)
	_, url := startShop(t)
	p := command(t, r, url)
	p.command.Env = append(p.command.Env, "SLUICE_ACTUATOR=http://"+r.Address)
	if err := p.command.Run(); err == nil || !strings.Contains(p.errs.String(), r.Address+": bind: address already in use") {
		t.Errorf("%v\n%s", err, &p.errs)
	}
}
