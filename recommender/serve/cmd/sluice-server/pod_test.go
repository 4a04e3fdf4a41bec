package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"sluice.dev/serve/internal/database"
	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
)

// needed is the version of the schema that records wait for.
const needed = database.NeededSchema

// pod is a process as an orchestrator sees it: its pages, and its end after a signal.
type pod struct {
	pages  string
	signal func()
	ended  chan error
}

func startPod(t *testing.T, command func(context.Context, settings, io.Writer) error, s settings) *pod {
	t.Helper()
	s.health = free(t)
	ctx, cancel := context.WithCancel(context.Background())
	p := &pod{s.health, cancel, make(chan error, 1)}
	go func() { p.ended <- command(ctx, s, io.Discard) }()
	t.Cleanup(cancel)
	return p
}

func (p *pod) get(path string) (code int, body string) {
	response, err := http.Get("http://" + p.pages + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

func (p *pod) eventually(t *testing.T, path string, code int, part string) {
	t.Helper()
	gotCode, gotBody := 0, ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if gotCode, gotBody = p.get(path); gotCode == code && strings.Contains(gotBody, part) {
			return
		}
	}
	t.Fatalf("%s never was %d with %q: %d %s", path, code, part, gotCode, gotBody)
}

func (p *pod) end(t *testing.T) {
	t.Helper()
	p.signal()
	select {
	case err := <-p.ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("never ended")
	}
}

func settingsFor(t *testing.T, values map[string]string) settings {
	t.Helper()
	s, err := settingsOf(lookup(values))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func portOf(t *testing.T, address string) int {
	_, port, _ := net.SplitHostPort(address)
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// startKafka starts a broker in memory with the topics of the prefix x_.
func startKafka(t *testing.T, more ...kfake.Opt) (cluster *kfake.Cluster, address string) {
	t.Helper()
	topics := kfake.SeedTopics(1, "x_decisions", "x_explanations", "x_observed", "x_reports")
	cluster, err := kfake.NewCluster(append(more, kfake.NumBrokers(1), topics)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster, cluster.ListenAddrs()[0]
}

// The server waits for brokers: a name that does not resolve, and a port that opens later.
func TestKafkaComesLater(t *testing.T) {
	broker := free(t)
	s := settingsFor(t, map[string]string{"SLUICE_RECOMMENDER": free(t), "SLUICE_KAFKA": "sluice-kafka.invalid:9092," + broker, "SLUICE_TOPIC_PREFIX": "x_"})
	p := startPod(t, serve, s)
	p.eventually(t, "/readyz", 503, "journal: list topics: ")
	p.eventually(t, "/livez", 200, "ok")
	startKafka(t, kfake.Ports(portOf(t, broker)))
	p.eventually(t, "/readyz", 200, "ok")
	p.end(t)
}

// The name of a broker stays, its address changes, as with a pod of a StatefulSet.
func TestABrokerComesBackAtAnotherAddress(t *testing.T) {
	var at atomic.Pointer[string]
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		if at.Load() == nil {
			return nil, &net.DNSError{Err: "no such host", Name: "kafka-0", IsNotFound: true}
		}
		return (&net.Dialer{}).DialContext(ctx, network, *at.Load())
	}
	s := settingsFor(t, map[string]string{"SLUICE_RECOMMENDER": free(t), "SLUICE_KAFKA": "kafka-0:9092", "SLUICE_TOPIC_PREFIX": "x_"})
	s.journal.Options = append(s.journal.Options, kgo.Dialer(dial))
	p := startPod(t, serve, s)
	p.eventually(t, "/readyz", 503, "journal: list topics: ")
	first, address := startKafka(t)
	at.Store(&address)
	p.eventually(t, "/readyz", 200, "ok")
	at.Store(nil)
	first.Close()
	_, moved := startKafka(t)
	client, err := kgo.NewClient(kgo.SeedBrokers(moved))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	// Three offsets, which the server can read at the new address only.
	for range 3 {
		if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "x_decisions", Value: []byte("x")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	at.Store(&moved)
	p.eventually(t, "/metrics", 200, "sluice_server_records_left_out 3\n")
	p.eventually(t, "/livez", 200, "ok")
	p.end(t)
}

// clickHouse responds with the version of the schema, and blocks other queries until the channel is closed.
type clickHouse struct {
	schema, begun atomic.Bool
	inserts       atomic.Int64
	goOn          chan struct{}
}

func (c *clickHouse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query, _ := io.ReadAll(r.Body)
	switch {
	case !c.schema.Load():
		w.Header().Set("X-ClickHouse-Exception-Code", "60")
		http.Error(w, "Code: 60. DB::Exception: Unknown table", http.StatusNotFound)
		return
	case strings.Contains(string(query), "FROM schema_migrations"):
		fmt.Fprintf(w, "{\"migrations\":1,\"version\":%d}\n", needed)
		return
	}
	c.begun.Store(true)
	<-c.goOn
	if strings.HasPrefix(string(query), "INSERT") {
		c.inserts.Add(int64(strings.Count(string(query), "\n") - 1))
	}
}

// From SIGTERM on the server is not ready, watches end, and a call under way is answered.
func TestTheServerDrains(t *testing.T) {
	for _, tt := range []struct {
		drain string
		code  codes.Code
	}{{"60s", codes.OK}, {"0s", codes.Unavailable}} {
		t.Run(tt.drain, func(t *testing.T) {
			database := &clickHouse{goOn: make(chan struct{})}
			database.schema.Store(true)
			page := httptest.NewServer(database)
			defer page.Close()
			journal := journaltest.New(t, 1)
			journal.Decider(t, 0).Publish(journaltest.Apply(journaltest.Server("cart"), 1, 8))
			s := settingsFor(t, map[string]string{
				"SLUICE_RECOMMENDER": free(t), "SLUICE_KAFKA": journal.Brokers[0], "SLUICE_TOPIC_PREFIX": strings.TrimSuffix(journal.Decisions, "decisions"),
				"SLUICE_CLICKHOUSE": page.URL, "SLUICE_DRAIN": tt.drain,
			})
			p := startPod(t, serve, s)
			p.eventually(t, "/readyz", 200, "ok")
			p.eventually(t, "/metrics", 200, "sluice_server_schema_current 1\n")
			link, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				t.Fatal(err)
			}
			defer link.Close()
			client := poolsv1.NewPoolSizeServiceClient(link)
			watch, err := client.WatchPoolSizes(t.Context(), &poolsv1.WatchPoolSizesRequest{})
			if err == nil {
				_, err = watch.Recv()
			}
			if err != nil {
				t.Fatal(err)
			}
			called := make(chan error, 1)
			go func() {
				_, err := client.ListPoolSizeHistory(t.Context(), &poolsv1.ListPoolSizeHistoryRequest{Pool: journaltest.Server("cart").Proto()})
				called <- err
			}()
			for end := time.Now().Add(time.Minute); !database.begun.Load() && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			}
			p.signal()
			for err == nil {
				_, err = watch.Recv()
			}
			if status.Code(err) != codes.Unavailable {
				t.Errorf("the watch ended with %v", err)
			}
			if tt.code == codes.OK {
				p.eventually(t, "/readyz", 503, "draining")
				p.eventually(t, "/livez", 200, "ok")
				close(database.goOn)
			} else {
				defer close(database.goOn)
			}
			if err := <-called; status.Code(err) != tt.code {
				t.Errorf("the call ended with %v, want %s", err, tt.code)
			}
			p.end(t)
		})
	}
}

// Records wait for ClickHouse, for its schema, and finish the rows that they have read.
func TestRecordsWaitForTheSchemaAndFinishTheirRows(t *testing.T) {
	database := &clickHouse{goOn: make(chan struct{})}
	address := free(t)
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(journaltest.Server("cart"), 1, 8))
	p := startPod(t, record, settingsFor(t, map[string]string{
		"SLUICE_KAFKA": journal.Brokers[0], "SLUICE_TOPIC_PREFIX": strings.TrimSuffix(journal.Decisions, "decisions"),
		"SLUICE_CLICKHOUSE": "http://" + address, "SLUICE_DRAIN": "60s",
	}))
	p.eventually(t, "/readyz", 503, fmt.Sprintf("schema: have unknown, need %d: ask ClickHouse: ", needed))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	page := &http.Server{Handler: database}
	go page.Serve(listener) //nolint:errcheck // it ends with the test
	defer page.Close()
	p.eventually(t, "/readyz", 503, fmt.Sprintf("schema: have none, need %d; run `sluice-migrate up`", needed))
	p.eventually(t, "/livez", 200, "ok")
	database.schema.Store(true)
	p.eventually(t, "/readyz", 200, "ok")
	for end := time.Now().Add(2 * time.Minute); !database.begun.Load() && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	}
	p.signal()
	p.eventually(t, "/readyz", 503, "draining")
	close(database.goOn)
	p.end(t)
	if n := database.inserts.Load(); n != 1 {
		t.Errorf("%d rows written, want 1", n)
	}
}
