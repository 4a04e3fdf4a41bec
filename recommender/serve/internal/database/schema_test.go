package database_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice.dev/serve/internal/database"
	"sluice.dev/serve/internal/keys"
)

// NeededSchema is the number of the newest migration that storage/ has.
func TestTheNeededSchemaIsThatOfStorage(t *testing.T) {
	storage := filepath.Join("..", "..", "..", "..", "storage", "clickhouse")
	if tables, _ := filepath.Glob(filepath.Join(storage, "tables", "*.sql")); len(tables) == 0 {
		t.Fatalf("%s has no tables", storage)
	}
	files, err := filepath.Glob(filepath.Join(storage, "migrations", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	newest := 0 // the first schema
	for _, file := range files {
		number, err := strconv.Atoi(strings.SplitN(filepath.Base(file), "_", 2)[0])
		if err != nil {
			t.Fatal(err)
		}
		newest = max(newest, number)
	}
	if newest != database.NeededSchema {
		t.Errorf("storage/ has migration %d, NeededSchema is %d", newest, database.NeededSchema)
	}
}

// fakeSchema responds as ClickHouse does: without the database, without the table, without a row, or with a version.
type fakeSchema struct {
	code    atomic.Pointer[string]
	rows    atomic.Pointer[string]
	queries atomic.Int64
}

func (f *fakeSchema) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.queries.Add(1)
	if code := f.code.Load(); code != nil {
		w.Header().Set("X-ClickHouse-Exception-Code", *code)
		http.Error(w, "Code: "+*code+". DB::Exception", http.StatusNotFound)
		return
	}
	if query, _ := io.ReadAll(r.Body); strings.Contains(string(query), "FROM schema_migrations") {
		fmt.Fprintln(w, *f.rows.Load())
	}
}

// recorded is the answer of a database with the schema that is needed.
var recorded = fmt.Sprintf(`{"migrations":1,"version":%d}`, database.NeededSchema)

// needing is a text with the version that is needed.
func needing(format string) string { return fmt.Sprintf(format, database.NeededSchema) }

func (f *fakeSchema) lacks(code string) { f.code.Store(&code) }
func (f *fakeSchema) has(rows string)   { f.rows.Store(&rows); f.code.Store(nil) }

func open(t *testing.T, addresses string) *database.ClickHouse {
	t.Helper()
	c, err := database.New(addresses, "sluice", database.Login{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheckSchema(t *testing.T) {
	fake := &fakeSchema{}
	server := httptest.NewServer(fake)
	defer server.Close()
	c := open(t, server.URL)
	expect := func(want string) {
		t.Helper()
		got := ""
		if err := c.CheckSchema(t.Context()); err != nil {
			got = err.Error()
		}
		if got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	fake.lacks("81")
	expect(needing("schema: have none, need %d; run `sluice-migrate up`"))
	fake.lacks("60")
	expect(needing("schema: have none, need %d; run `sluice-migrate up`"))
	fake.lacks("497") // the user may not read the table
	expect(needing("schema: have unknown, need %d: ask ClickHouse: 404 Not Found: Code: 497"))
	fake.has(`{"migrations":"0","version":0}`)
	expect(needing("schema: have unknown, need %d: json:")) // 64 bits as text: another setting than the one that was sent
	fake.has(`{"migrations":0,"version":0}`)
	expect(needing("schema: have none, need %d; run `sluice-migrate up`"))

	pool := keys.Pool{Service: "cart"}
	if _, err := c.Decisions(t.Context(), pool, 1, 1); err == nil || !strings.Contains(err.Error(), "run `sluice-migrate up`") {
		t.Errorf("history without a schema: %v", err)
	}
	fake.has(fmt.Sprintf(`{"migrations":2,"version":%d}`, database.NeededSchema+1))
	expect("")
	before := fake.queries.Load()
	expect("")
	if fake.queries.Load() != before {
		t.Error("a current schema was asked for again")
	}
	if _, err := c.Decisions(t.Context(), pool, 1, 1); err != nil {
		t.Errorf("history: %v", err)
	}
}

// lockedBuffer is a log that a test reads while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestWaitForTheSchema(t *testing.T) {
	fake := &fakeSchema{}
	fake.lacks("60")
	server := httptest.NewServer(fake)
	defer server.Close()
	log := &lockedBuffer{}
	schema := database.NewSchema(open(t, server.URL), slog.New(slog.NewTextHandler(log, nil)))
	if causes := schema.Causes(); len(causes) != 1 || !strings.Contains(causes[0], "not checked yet") {
		t.Error(causes)
	}
	current := make(chan bool, 1)
	var turns atomic.Int64
	go func() { current <- schema.Wait(t.Context(), func() { turns.Add(1) }) }()
	for end := time.Now().Add(time.Minute); turns.Load() < 3; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never checked again")
		}
	}
	if causes := schema.Causes(); len(causes) != 1 || causes[0] != needing("schema: have none, need %d; run `sluice-migrate up`") {
		t.Error(causes)
	}
	if n := strings.Count(log.String(), "waiting for the schema"); n != 1 { // the next line is due after 30 s
		t.Errorf("%d lines in the log:\n%s", n, log)
	}
	fake.has(recorded)
	if !<-current || schema.Causes() != nil {
		t.Error(schema.Causes())
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if database.NewSchema(open(t, "http://127.0.0.1:1"), slog.New(slog.DiscardHandler)).Wait(ctx, func() {}) {
		t.Error("a wait that was ended found a schema")
	}
}

// A server that accepts connections and never answers keeps no query from the other replica for longer than the caller's time.
func TestASilentServerIsLeft(t *testing.T) {
	released := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	defer silent.Close()
	defer close(released)
	fake := &fakeSchema{}
	fake.has(recorded)
	good := httptest.NewServer(fake)
	defer good.Close()
	c := open(t, silent.URL+","+good.URL)
	within, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.CheckSchema(within); err == nil {
		t.Error("the silent server answered")
	}
	if err := c.CheckSchema(t.Context()); err != nil {
		t.Errorf("the other server was not asked: %v", err)
	}
}
