package server_test

import (
	"cmp"
	"context"
	"log/slog"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"sluice.dev/serve/internal/access"
	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/server"
	"sluice.dev/serve/internal/topics"
	"sluice.dev/serve/internal/watch"
	"sluice.dev/serve/internal/xds"

	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
	tuningv1 "sluice.dev/api/tuning/v1"
)

const patience = 30 * time.Second

var (
	cart      = journaltest.Server("cart")
	orders    = journaltest.Server("orders")
	catalogue = journaltest.Client("catalogue", "db")
)

type bothWays struct {
	*topics.Writer
	*topics.Explanations
}

type noHistory struct{}

func (noHistory) Decisions(context.Context, keys.Pool, uint64, int) ([]calls.PastDecision, error) {
	return nil, context.DeadlineExceeded
}

// running is a server on a journal, as the command runs it.
type running struct {
	service *calls.Service
	address string
	client  poolsv1.PoolSizeServiceClient
	subsets subsetsv1.SubsetServiceClient
	tuning  tuningv1.TuningServiceClient
	link    *grpc.ClientConn
	reader  *topics.Reader
	hub     *xds.Hub
	stop    func()
	// counts has the connections that are open, and those refused.
	counts func() (open, refused int64)
}

type options struct {
	history calls.History
	every   time.Duration
	lookup  func(string) string
	dial    []grpc.DialOption
	xds     xds.Settings
	// address is the listen address; any free one where it is empty.
	address string
	// connections bounds them; 0: by no test's number.
	connections int
	// log is the server's; nil discards it.
	log *slog.Logger
}

// start runs a server until the test ends, or stop is called.
func start(t *testing.T, journal *journaltest.Journal, o options) *running {
	t.Helper()
	if o.history == nil {
		o.history = noHistory{}
	}
	if o.every == 0 {
		o.every = watch.EventInterval
	}
	if o.lookup == nil {
		o.lookup = func(string) string { return "" }
	}
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	if o.dial == nil {
		o.dial = []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	}
	writer, err := topics.NewWriter(journal.Journal)
	must(t, err)
	explanations, err := topics.NewExplanations(journal.Journal)
	must(t, err)
	a, err := access.Open(o.lookup)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{}
	r.service = calls.New(bothWays{writer, explanations}, o.history, func() string { return r.reader.Problem() })
	hub := xds.New(writer, o.log, o.xds)
	r.hub = hub
	listening, err := server.Listen(cmp.Or(o.address, "127.0.0.1:0"), r.service, hub, a, server.Limits{Drain: 5 * time.Second, Connections: cmp.Or(o.connections, 1_000_000)})
	must(t, err)
	r.reader = topics.NewReader(journal.Journal, o.log, func(reading topics.Reading) {
		r.service.Serve(reading)
		hub.Serve(reading.Tables)
		go watch.Ticks(ctx, reading.Tables, o.every)
		listening.Ready(true)
	})
	go a.Follow(ctx, 10*time.Millisecond, o.log)
	read, served := make(chan struct{}), make(chan struct{})
	go func() { defer close(read); r.reader.Run(ctx) }()
	go func() { defer close(served); _ = listening.Serve(ctx) }()
	r.address, r.counts = listening.Address(), listening.Connections
	r.link, err = grpc.NewClient(r.address, o.dial...)
	must(t, err)
	r.client, r.subsets = poolsv1.NewPoolSizeServiceClient(r.link), subsetsv1.NewSubsetServiceClient(r.link)
	r.tuning = tuningv1.NewTuningServiceClient(r.link)
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		<-read
		<-served
		writer.Close()
		explanations.Close()
		r.link.Close()
	}
	t.Cleanup(r.stop)
	return r
}

// ready waits until the journal was read to its end.
func (r *running) ready(t *testing.T) *running {
	t.Helper()
	eventually(t, "the server is ready", func() bool { return r.service.Tables() != nil })
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, name string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + name)
		}
	}
}

// refused asserts the code of an error.
func refused(t *testing.T, err error, want codes.Code) *status.Status {
	t.Helper()
	got, _ := status.FromError(err)
	if got.Code() != want {
		t.Fatalf("%v, want %v", err, want)
	}
	return got
}
