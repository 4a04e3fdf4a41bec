package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sluice.dev/actuators/internal/tests/files"
	"sluice.dev/actuators/internal/tests/recommendertest"
	poolsv1 "sluice.dev/api/pools/v1"
)

// kept is the configuration of one target that opted in, with a state of its own.
func kept(t *testing.T, more string) (file, folder string) {
	folder = t.TempDir()
	file = filepath.Join(folder, "actuator.yaml")
	files.Write(t, file, `name: local
status_address: ${SLUICE_ACTUATOR}
recommender: {address: "${SLUICE_RECOMMENDER}", interval: 100ms}
state: `+folder+`/state
kill_switch: `+folder+`/stop
targets:
  - name: cart.threads
    pool: {service: cart, side: server}
    apply: true
    min: 2
    max: 128
    settle: 0s
    cooldown: 10m
    `+more+`
    http:
      read: {url: "${SLUICE_DEMO}/pools/cart.threads"}
      write: {url: "${SLUICE_DEMO}/pools/cart.threads"}
`)
	return file, folder
}

func with(p *process, file string) *process {
	p.command.Args[2] = file
	return p
}

// fatal is a proxy before a shop that kills the requesting process, with SIGKILL, at its request `at`: before it passes the
// request on, or after the request was done and before the response.
type fatal struct {
	http.Handler
	mu    sync.Mutex
	at    int
	after bool
	count int
	// asks is the requesting process, once it was started.
	asks chan *os.Process
}

func (f *fatal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.count++
	now := f.count == f.at
	f.mu.Unlock()
	if now && !f.after {
		(<-f.asks).Kill()
		panic(http.ErrAbortHandler)
	}
	f.Handler.ServeHTTP(w, r)
	if now {
		(<-f.asks).Kill()
		panic(http.ErrAbortHandler)
	}
}

// The requests of a write are a reading, the write, and a reading. internal/pools (crash_test.go) enumerates all other steps.
func TestKilledAtEachRequestOfAWrite(t *testing.T) {
	for at := 1; at <= 3; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after=%t", at, after), func(t *testing.T) {
				r := recommendertest.Start(t)
				r.Recommend(cartThreads, 32, 7)
				shop, shopURL := startShop(t)
				behind, _ := url.Parse(shopURL)
				gate := &fatal{Handler: httputil.NewSingleHostReverseProxy(behind), at: at, after: after, asks: make(chan *os.Process, 1)}
				front := httptest.NewServer(gate)
				defer front.Close()
				file, folder := kept(t, "")
				first := with(command(t, r, front.URL), file)
				first.start(t)
				gate.asks <- first.command.Process
				if err := first.command.Wait(); err == nil {
					t.Fatal("the process was not killed")
				}
				second := with(command(t, r, front.URL), file)
				second.start(t)
				var report *poolsv1.Actuation
				eventually(t, "the write told", func() bool {
					report = r.Find("cart.threads", applied)
					if report == nil {
						report = r.Find("cart.threads", poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED)
					}
					return report != nil
				})
				second.stop(t)
				switch size := shop.size("cart.threads"); {
				case report.GetOutcome() == applied && size == 32 && report.GetReadBack() == 32:
				case strings.HasPrefix(report.GetDetail(), "reverted to 64") && size == 64 && report.GetReadBack() == 64:
				default:
					t.Errorf("told %v, and the target has %d", report, size)
				}
				text, err := os.ReadFile(filepath.Join(folder, "state", "cart.threads.json"))
				if err != nil || strings.Contains(string(text), "intent") || strings.Contains(string(text), "ended") {
					t.Errorf("%s %v, want nothing under way", text, err)
				}
			})
		}
	}
}

// A process is killed after it wrote a file, and before the program was notified: the next one reports the program's size.
func TestKilledBeforeTheProgramIsNotifiedOfASize(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 32, 7)
	file, folder := kept(t, "quiet_hours: []")
	size, running, once := filepath.Join(folder, "size"), filepath.Join(folder, "running"), filepath.Join(folder, "once")
	files.Write(t, size, "64\n")
	files.Write(t, running, "64\n")
	head, _, _ := strings.Cut(files.Read(t, file), "    http:")
	kills := fmt.Sprintf("[ -e %s ] || { touch %s; kill -9 $PPID; exit 1; }; cp %s %s", once, once, size, running)
	files.Write(t, file, head+fmt.Sprintf("    file: {path: %q, command: [sh, -c, %q]}\n", size, kills))
	p := with(command(t, r, "", "--once"), file)
	if err := p.command.Run(); err == nil || p.command.ProcessState.Exited() {
		t.Fatalf("%v: the process was not killed", err)
	}
	if files.Read(t, size) != "32\n" || files.Read(t, running) != "64\n" {
		t.Fatalf("the file has %q, the program %q", files.Read(t, size), files.Read(t, running))
	}
	p = with(command(t, r, "", "--once"), file)
	p.command.Run()
	report := r.Find("cart.threads", poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED)
	if !strings.HasPrefix(report.GetDetail(), "reverted to 64") || files.Read(t, size) != "64\n" || files.Read(t, running) != "64\n" {
		t.Errorf("told %v, the file has %q, the program %q\n%s", report, files.Read(t, size), files.Read(t, running), &p.errs)
	}
	if left, _ := filepath.Glob(size + ".untold*"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestDryRunKillSwitchAndRestore(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 12, 7)
	shop, shopURL := startShop(t)
	file, folder := kept(t, "quiet_hours: []")
	printed := func(arguments ...string) string {
		t.Helper()
		p := with(command(t, r, shopURL, arguments...), file)
		p.command.Stderr = nil
		out, err := p.command.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", arguments, err, out)
		}
		return string(out)
	}

	if got := printed("--dry-run"); !strings.Contains(got, "cart.threads  64   32        yes       write 32 over 64, towards 12") {
		t.Errorf("dry run:\n%s", got)
	}
	files.Write(t, filepath.Join(folder, "stop"), "")
	if got := printed("--dry-run"); !strings.Contains(got, "the kill switch is on") {
		t.Errorf("dry run with the kill switch:\n%s", got)
	}
	printed("--once")
	if got := shop.written(); got != "[]" {
		t.Errorf("wrote %s with the kill switch on, or in a dry run", got)
	}
	if got := printed("--restore", "all"); !strings.Contains(got, "nothing to restore") {
		t.Errorf("restore:\n%s", got)
	}

	os.Remove(filepath.Join(folder, "stop"))
	printed("--once")
	printed("--once") // within the cool-down, which outlives the process
	if got := shop.written(); got != "[cart.threads=32]" {
		t.Errorf("wrote %s, want one step and then the cool-down", got)
	}
	if got := printed("--dry-run"); !strings.Contains(got, "the last write is less than 10m0s ago") {
		t.Errorf("dry run within the cool-down:\n%s", got)
	}
	if got := printed("--restore", "cart.threads"); !strings.HasSuffix(got, "cart.threads: restored\n") || shop.size("cart.threads") != 64 {
		t.Errorf("restore: %s, size %d", got, shop.size("cart.threads"))
	}
}

func TestRestoresOnExit(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 32, 7)
	shop, shopURL := startShop(t)
	file, _ := kept(t, "restore_on_exit: true")
	p := with(command(t, r, shopURL), file)
	p.start(t)
	eventually(t, "applied", func() bool { return r.Find("cart.threads", applied) != nil })
	other := with(command(t, r, shopURL), file)
	if err := other.command.Run(); err == nil || !strings.Contains(other.errs.String(), "another running actuator has") {
		t.Errorf("%v\n%s\nwant one owner of a target", err, &other.errs)
	}
	p.stop(t)
	if got := shop.written(); got != "[cart.threads=32 cart.threads=64]" {
		t.Errorf("wrote %s, want the original size at the end", got)
	}
}
