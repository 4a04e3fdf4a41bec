package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/tests/files"
	"sluice.dev/actuators/internal/tests/recommendertest"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// faulty serves one pool of 64 in each of the ways in which a target can fail, and counts its requests.
type faulty struct {
	mu   sync.Mutex
	puts map[string]int
	end  chan struct{}
}

func startFaulty(t *testing.T) (*faulty, string) {
	f := &faulty{puts: map[string]int{}, end: make(chan struct{})}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(f.end) })
	return f, server.URL
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	way := strings.TrimPrefix(r.URL.Path, "/")
	if r.Method == http.MethodPut {
		f.mu.Lock()
		f.puts[way]++
		f.mu.Unlock()
	}
	silent := func() {
		select {
		case <-r.Context().Done():
		case <-f.end:
		}
	}
	switch way {
	case "slow":
		silent()
	case "drips":
		fmt.Fprint(w, `{"size": `)
		w.(http.Flusher).Flush()
		silent()
	case "refuses":
		http.Error(w, "out of order", http.StatusServiceUnavailable)
	case "floods": // 10 MB, the size at its end
		fmt.Fprint(w, `{"pad": "`)
		for range 10 << 10 {
			fmt.Fprint(w, strings.Repeat("x", 1<<10))
		}
		fmt.Fprint(w, `", "size": 64}`)
	case "floods-status":
		w.WriteHeader(http.StatusInternalServerError)
		for range 10 << 10 {
			fmt.Fprint(w, strings.Repeat("x", 1<<10))
		}
	case "negative":
		fmt.Fprint(w, `{"size": -12}`)
	case "huge":
		fmt.Fprint(w, `{"size": 1e300}`)
	case "text":
		fmt.Fprint(w, `{"size": "many"}`)
	case "lies": // takes everything, does nothing
		fmt.Fprint(w, `{"size": 64}`)
	}
}

func (f *faulty) put(way string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.puts[way]
}

// page has the fields of /status that these tests read.
type page struct {
	Reports struct{ Queued, Dropped, Rejected int }
	Targets []struct {
		Name, ReadError string
		Size            *uint32
		Counts          map[string]int
	}
}

func statusOf(t *testing.T, p *process) (all page) {
	t.Helper()
	_, text := p.get("/status")
	text = strings.ReplaceAll(text, `"read_error"`, `"ReadError"`)
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return all
}

// residentKB is the memory of a process.
func residentKB(t *testing.T, pid int) (kb int) {
	t.Helper()
	for line := range strings.Lines(files.Read(t, fmt.Sprintf("/proc/%d/status", pid))) {
		fmt.Sscanf(line, "VmRSS: %d kB", &kb)
	}
	return kb
}

// One process has a target for each fault, and a healthy one, which gets its size. The process assumes nothing about the
// others, writes them only where it could read them, and its memory does not grow by their responses.
func TestFaultyTargetsHoldUpNoOther(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 32, 7)
	shop, shopURL := startShop(t)
	faults, faultsURL := startFaulty(t)
	ways := []string{"slow", "drips", "refuses", "floods", "floods-status", "negative", "huge", "text", "lies", "gone"}
	text := "name: local\nstatus_address: ${SLUICE_ACTUATOR}\nrecommender: {address: \"${SLUICE_RECOMMENDER}\", interval: 500ms}\ntargets:\n"
	target := func(name, url string) string {
		timeout := "20s"
		if name == "slow" || name == "drips" {
			timeout = "300ms"
		}
		return fmt.Sprintf("  - {name: %s, pool: {service: cart, side: server}, apply: true, min: 2, max: 128, settle: 0s, cooldown: 1h, "+
			"http: {timeout: %s, read: {url: %q}, write: {url: %q}}}\n", name, timeout, url, url)
	}
	for _, way := range ways {
		url := faultsURL + "/" + way
		if way == "gone" {
			url = "http://127.0.0.1:1/"
		}
		text += target(way, url)
	}
	file := filepath.Join(t.TempDir(), "actuator.yaml")
	files.Write(t, file, text+target("healthy", shopURL+"/pools/cart.threads"))
	p := with(command(t, r, shopURL), file)
	p.start(t)
	eventually(t, "the healthy one applied", func() bool { return r.Find("healthy", applied) != nil })
	eventually(t, "the lie told", func() bool { return r.Find("lies", poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED) != nil })
	if report := r.Find("lies", poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED); report.GetReadBack() != 64 || report.GetRequested() != 32 {
		t.Errorf("of the liar %v, want what is read", report)
	}
	unread := func() (n int) {
		for _, target := range statusOf(t, p).Targets {
			if target.ReadError != "" && target.Size == nil {
				n++
			}
		}
		return n
	}
	eventually(t, "each fault said", func() bool { return unread() == len(ways)-1 })
	before := residentKB(t, p.command.Process.Pid)
	sizeBefore := shop.size("cart.threads")
	time.Sleep(2 * time.Second) // some passes over everything, of two targets with 10 MB each time
	if grown := residentKB(t, p.command.Process.Pid) - before; grown > 50_000 {
		t.Errorf("memory grew by %d kB", grown)
	}
	for _, way := range ways {
		want := map[string]int{"lies": 1}[way]
		if got := faults.put(way); got != want {
			t.Errorf("%s was written %d times, want %d", way, got, want)
		}
	}
	if shop.written() != "[cart.threads=32]" || sizeBefore != 32 {
		t.Errorf("wrote %s", shop.written())
	}
	p.stop(t)
}

// The recommender sends 0, a negative number, a huge one, another unit, or nothing at all: each is refused once, with its
// revision, and the size stays.
func TestNonsenseOfTheRecommenderIsRefused(t *testing.T) {
	r := recommendertest.Start(t)
	shop, shopURL := startShop(t)
	file, _ := kept(t, "quiet_hours: []")
	p := with(command(t, r, shopURL), file)
	p.start(t)
	eventually(t, "the first reading", func() bool { return r.Find("cart.threads", observed) != nil })
	refusals := func() (n int) { return statusOf(t, p).Targets[0].Counts["REFUSED"] }
	number := func(n uint32) *uint32 { return &n }
	for i, target := range []*uint32{number(0), number(math.MaxUint32 - 11), number(math.MaxUint32), number(12_000), nil} {
		r.Answer(&poolsv1.PoolSize{Pool: cartThreads.Proto(), Action: commonv1.Action_ACTION_APPLY, Target: target, Revision: uint64(i + 1),
			Confidence: math.NaN(), ValidUntil: timestamppb.New(time.Now().Add(time.Minute))})
		eventually(t, fmt.Sprintf("refusal %d", i+1), func() bool { return refusals() == i+1 })
	}
	if shop.written() != "[]" || shop.size("cart.threads") != 64 {
		t.Errorf("wrote %s", shop.written())
	}
	r.Recommend(cartThreads, 32, 9)
	eventually(t, "what is none is applied", func() bool { return shop.size("cart.threads") == 32 })
	p.stop(t)
}

// The recommender takes no report for the whole call time, and then breaks off and restarts again and again: sizes are
// written as they come, and each write is reported once that is possible.
func TestASlowAndRestartingRecommenderGetsEachReport(t *testing.T) {
	open := make(chan struct{})
	r := recommendertest.Start(t, grpc.UnaryInterceptor(
		func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			select {
			case <-open:
				return handle(ctx, request)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}))
	shop, shopURL := startShop(t)
	file, _ := kept(t, "quiet_hours: []")
	text := files.Read(t, file)
	files.Write(t, file, strings.ReplaceAll(strings.ReplaceAll(text, "interval: 100ms", "interval: 100ms, timeout: 100ms"), "cooldown: 10m", "cooldown: 0s"))
	r.Recommend(cartThreads, 48, 1)
	p := with(command(t, r, shopURL), file)
	p.start(t)
	sizes := []uint32{48, 32, 40, 60, 30}
	for i, size := range sizes {
		r.Recommend(cartThreads, size, uint64(i+1))
		eventually(t, fmt.Sprintf("%d in force", size), func() bool { return shop.size("cart.threads") == size })
		r.Break()
		if i == 2 {
			r.Stop()
			r.Listen(t)
		}
	}
	if r.Find("cart.threads", applied) != nil {
		t.Error("a report came through: the recommender is not slow")
	}
	close(open)
	reported := func() string {
		var all []uint32
		for _, report := range r.Reports() {
			if report.GetOutcome() == applied {
				all = append(all, report.GetRequested())
			}
		}
		return fmt.Sprint(all)
	}
	eventually(t, "each write told, in order", func() bool { return reported() == fmt.Sprint(sizes) })
	if got := statusOf(t, p).Reports; got.Dropped+got.Rejected != 0 {
		t.Errorf("reports %+v", got)
	}
	p.stop(t)
}

// The state on the disk is from a clock that was ten hours ahead, and is right now: the next write waits for a cool-down, not
// for the clock. With a clock that was behind, leases that ended by the time of day are over.
func TestTheClockJumpedBetweenTwoProcesses(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 32, 7)
	shop, shopURL := startShop(t)
	file, folder := kept(t, "quiet_hours: []")
	once := func(want string) {
		t.Helper()
		p := with(command(t, r, shopURL, "--once"), file)
		p.command.Run()
		if got := shop.written(); got != want {
			t.Errorf("wrote %s, want %s\n%s", got, want, &p.errs)
		}
	}
	once("[cart.threads=32]")
	record := filepath.Join(folder, "state", "cart.threads.json")
	shift := func(by time.Duration) {
		t.Helper()
		var kept map[string]any
		if err := json.Unmarshal([]byte(files.Read(t, record)), &kept); err != nil {
			t.Fatal(err)
		}
		writes := kept["writes"].(map[string]any)
		at, err := time.Parse(time.RFC3339Nano, writes["At"].(string))
		if err != nil {
			t.Fatal(err)
		}
		writes["At"] = at.Add(by)
		text, _ := json.Marshal(kept)
		if err := os.WriteFile(record, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.Recommend(cartThreads, 40, 8)
	shift(10 * time.Hour)
	once("[cart.threads=32]") // within the cool-down of 10 minutes, which begins now
	shift(-11 * time.Minute)
	once("[cart.threads=32 cart.threads=40]")
	size := uint32(50)
	r.Answer(&poolsv1.PoolSize{Pool: cartThreads.Proto(), Action: commonv1.Action_ACTION_APPLY, Target: &size, Revision: 9,
		ValidUntil: timestamppb.New(time.Now().Add(-time.Hour))})
	shift(-11 * time.Minute)
	once("[cart.threads=32 cart.threads=40]")
	if report := r.Find("cart.threads", refused); report.GetRequested() != 50 {
		t.Errorf("report %v, want the lease to be over", report)
	}
}
